import { fileURLToPath } from 'node:url';
import { targets } from '../codegen.js';
import { runGenerate } from '../src/codegen/command.js';

const root = fileURLToPath(new URL('..', import.meta.url));

process.exitCode = await runGenerate(process.argv.slice(2), root, targets);
