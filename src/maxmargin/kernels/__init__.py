"""What "similar" means: kernels, and the kernel matrices solvers ask."""
