"""Fitted machines as files."""
