/**
 * Sends the journeys of both contracts, of sign-in, GraphQL, images and files to several built servers with separate
 * state folders on one PostgreSQL database: a round-robin proxy sends each request to the next server.
 *
 * Usage: npm run test:replicas -- [number of servers]... (default: 2 4)
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

/** The tests that start a contract server, without those that replace its parts. */
const TESTS = ['tests/contract/(dashboard|secrets|secrets-mcp|replicas)\\.test', 'tests/accounts/'];

const JEST = ['--conditions=trellis-source', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js'];

const counts = process.argv.slice(2);
for (const count of counts.length > 0 ? counts : ['2', '4']) {
  process.stdout.write(`== ${count} servers\n`);
  const args = [...JEST, '--selectProjects', 'PostgreSQL', '--runInBand', ...TESTS];
  const { status } = spawnSync(process.execPath, args, { env: { ...process.env, REPLICAS: count }, stdio: 'inherit' });
  if (status !== 0) process.exitCode = 1;
}
