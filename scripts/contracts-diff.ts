/**
 * Compares the contracts with those of a git ref, and fails for a breaking change.
 *
 * Usage: npm run contracts:diff -- <ref>
 */
import { fileURLToPath } from 'node:url';
import { runDiff } from '@trellis/codegen/diff/command';
import config from '../codegen.js';

process.exitCode = await runDiff(process.argv.slice(2), fileURLToPath(new URL('..', import.meta.url)), config);
