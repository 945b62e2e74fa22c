"""Machines without a kernel: the same contract, certificates and manners."""
