// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

/// Plain ERC-20 (returns bool), 6 decimals by default: stands in for USDC.
contract TestToken {
    string public name; string public symbol; uint8 public immutable decimals;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;
    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    error InsufficientBalance(address from, uint256 have, uint256 need);

    constructor(string memory n, string memory s, uint8 d, uint256 supply) {
        name = n; symbol = s; decimals = d; totalSupply = supply;
        balanceOf[msg.sender] = supply; emit Transfer(address(0), msg.sender, supply);
    }
    function transfer(address to, uint256 v) external returns (bool) { _move(msg.sender, to, v); return true; }
    function approve(address sp, uint256 v) external returns (bool) { allowance[msg.sender][sp] = v; emit Approval(msg.sender, sp, v); return true; }
    function transferFrom(address f, address t, uint256 v) external returns (bool) {
        allowance[f][msg.sender] -= v; _move(f, t, v); return true; }
    function _move(address f, address t, uint256 v) internal {
        uint256 b = balanceOf[f]; if (b < v) revert InsufficientBalance(f, b, v);
        unchecked { balanceOf[f] = b - v; } balanceOf[t] += v; emit Transfer(f, t, v);
    }
}

/// Behaves like the mainnet USDT (TetherToken): transfer/transferFrom/approve return NOTHING,
/// optional fee in basis points (taken out of what the payee gets, second Transfer to the owner),
/// pause and black list. Reverts with no reason data, like code from solc 0.4.
contract UsdtLike {
    string public constant name = "Tether USD"; string public constant symbol = "USDT"; uint8 public constant decimals = 6;
    address public owner = msg.sender; bool public paused; uint256 public basisPointsRate; uint256 public maximumFee;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;
    mapping(address => bool) public isBlackListed;
    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    constructor(uint256 supply) { totalSupply = supply; balanceOf[msg.sender] = supply; emit Transfer(address(0), msg.sender, supply); }
    modifier only() { require(msg.sender == owner); _; }
    function setParams(uint256 bps, uint256 maxFee) external only { require(bps < 20 && maxFee < 50); basisPointsRate = bps; maximumFee = maxFee * 10 ** decimals; }
    function pause() external only { paused = true; }
    function unpause() external only { paused = false; }
    function addBlackList(address a) external only { isBlackListed[a] = true; }
    function removeBlackList(address a) external only { isBlackListed[a] = false; }
    function approve(address sp, uint256 v) external { require(!(v != 0 && allowance[msg.sender][sp] != 0)); allowance[msg.sender][sp] = v; emit Approval(msg.sender, sp, v); }
    function transfer(address to, uint256 v) external { _move(msg.sender, to, v); }
    function transferFrom(address f, address t, uint256 v) external { require(allowance[f][msg.sender] >= v); allowance[f][msg.sender] -= v; _move(f, t, v); }
    function _move(address f, address t, uint256 v) internal {
        require(!paused && !isBlackListed[f]); require(balanceOf[f] >= v);
        uint256 fee = v * basisPointsRate / 10000; if (fee > maximumFee) fee = maximumFee;
        balanceOf[f] -= v; balanceOf[t] += v - fee;
        if (fee > 0) { balanceOf[owner] += fee; emit Transfer(f, owner, fee); }
        emit Transfer(f, t, v - fee);
    }
}

interface IAny { function transfer(address to, uint256 v) external; }

/// Sends ETH (and tokens) from inside a contract call: the payee never appears in tx.to.
contract Splitter {
    event Split(address indexed by, uint256 total);
    receive() external payable {}
    function split(address payable[] calldata to, uint256[] calldata v) external payable {
        uint256 t; for (uint256 i; i < to.length; i++) { (bool ok,) = to[i].call{value: v[i]}(""); require(ok, "pay failed"); t += v[i]; }
        emit Split(msg.sender, t);
    }
    /// pays, then throws the payment away again in an inner frame that reverts; the outer tx succeeds (status 1)
    function payAndUndo(address payable to, uint256 v) external payable { try this.payThenRevert(to, v) {} catch {} }
    function payThenRevert(address payable to, uint256 v) external { (bool ok,) = to.call{value: v}(""); require(ok); revert("undone"); }
    /// low level call, so that tokens with and without a return value work
    function splitToken(address token, address[] calldata to, uint256[] calldata v) external {
        for (uint256 i; i < to.length; i++) { (bool ok, bytes memory r) = token.call(abi.encodeCall(IAny.transfer, (to[i], v[i])));
            require(ok && (r.length == 0 || abi.decode(r, (bool))), "token failed"); } }
}

/// emits a Transfer event that looks like a token payment but moves nothing (fake token / event spoof)
contract FakeEvents { event Transfer(address indexed from, address indexed to, uint256 value);
    function emitTransfer(address f, address t, uint256 v) external { emit Transfer(f, t, v); } }
