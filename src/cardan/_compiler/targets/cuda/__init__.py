"""The CUDA target: a program as one kernel, compiled by NVRTC, launched on the caller's stream."""
