"""What runs in the server processes of a benchmark. Unlike `kit`, importing it sets nothing up."""
