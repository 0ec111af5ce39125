# rubric-order, with what its judges need.
#
#   docker build --tag rubric-order .                              judges on the processor
#   docker build --tag rubric-order:cuda --build-arg DEVICE=cuda . judges on NVIDIA GPUs: docker run --gpus all
#
# The wheels bring the libraries of CUDA; the machine needs the driver and the NVIDIA Container Toolkit alone.
FROM python:3.12-slim-bookworm
ARG DEVICE=cpu

# vLLM compiles kernels when it starts; the workflow's Makefile needs make.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends build-essential git \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /opt/rubric-order
COPY pyproject.toml LICENSE ./
COPY requirements requirements
COPY resources resources
COPY workflow workflow
RUN requirements/install.sh python3 .venv "requirements/${DEVICE}.txt" && touch .venv/.installed
COPY . .

ENV PATH=/opt/rubric-order/.venv/bin:$PATH
CMD ["rubric-order", "--help"]
