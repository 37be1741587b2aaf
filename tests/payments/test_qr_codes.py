"""The QR codes of all methods, read back as a phone would (PAY-9)."""

import pytest
from qr import read_qr

from payments.pages import qr_of
from payments.registry import Method, methods

ADDRESSES = {
    "bitcoin": "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu",
    "litecoin": "ltc1qjmxnz78nmc8nq77wuxh25n2es7rzm5c2rkk4wh",
    "ethereum": "0x9858EfFD232B4033E47d90003D41EC34EcaEda94",
    "solana": "HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk",
    "tron": "TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH",
}


@pytest.mark.parametrize("method", list(methods()), ids=lambda method: method.code)
def test_a_reader_finds_exactly_what_was_drawn(method: Method) -> None:
    address, asset = ADDRESSES[method.family.network], method.asset
    for amount in (asset.minimum_amount or 1, 123_456_789, 10**asset.decimals * 9_999 // 7):
        texts = [method.family.payment_uri(address, asset, amount), method.family.wallet_uri(address, asset, amount)]
        for text in filter(None, texts):
            assert read_qr(qr_of(text)) == text
