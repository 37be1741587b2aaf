// Compile Contracts.sol again after a change; the result is kept, so that tests need no compiler.
//   npm i --ignore-scripts solc@0.8.37 && node compile.js
const fs = require('fs'), path = require('path'), solc = require('solc');
const file = name => path.join(__dirname, name);
const settings = {
  evmVersion: 'paris',
  optimizer: {enabled: true, runs: 200},
  metadata: {bytecodeHash: 'none', appendCBOR: false},
  outputSelection: {'*': {'*': ['abi', 'evm.bytecode.object']}},
};
const sources = {'Contracts.sol': {content: fs.readFileSync(file('Contracts.sol'), 'utf8')}};
const out = JSON.parse(solc.compile(JSON.stringify({language: 'Solidity', sources, settings})));
const errors = (out.errors || []).filter(e => e.severity === 'error');
if (errors.length) {
  console.error(errors.map(e => e.formattedMessage).join('\n'));
  process.exit(1);
}
for (const [name, contract] of Object.entries(out.contracts['Contracts.sol'])) {
  const code = contract.evm.bytecode.object;
  if (!code) continue;
  const built = {name, solc: solc.version(), abi: contract.abi, bytecode: '0x' + code};
  fs.writeFileSync(file(`${name}.json`), JSON.stringify(built, null, 1));
}
