from shop import clock, english, network, shop

__all__ = ["clock", "english", "network", "shop"]
