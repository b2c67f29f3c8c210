import { fileURLToPath } from 'node:url';
import { runGenerate } from '@trellis/codegen/generate/command';
import config from '../codegen.js';

const root = fileURLToPath(new URL('..', import.meta.url));
// Presets read documents from the working directory, as graphql-codegen does.
process.chdir(root);

process.exitCode = await runGenerate(process.argv.slice(2), root, config);
