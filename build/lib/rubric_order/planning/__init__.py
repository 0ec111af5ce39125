"""From items to reads, and from reads to distinct requests."""
