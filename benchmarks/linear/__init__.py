"""Seconds of linear machines, ours and the peers', at equal measured duality gaps."""
