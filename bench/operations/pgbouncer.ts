/**
 * Runs two servers behind PgBouncer in transaction mode, with fewer connections than either has clients, and checks that
 * requests succeed and the audit log is intact. It needs the program: `apt-get install pgbouncer`.
 *
 * `node --conditions=trellis-source --import tsx bench/operations/pgbouncer.ts`
 */
import { copyFileSync, chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startPostgres } from '../postgres.js';
import { sendReads, sendUpdates, sendWrites, type Load } from '../secrets/secrets-load.js';
import { seedSecrets } from '../secrets/secrets-seed.js';
import { startServer } from '../server.js';
import { startPgbouncer } from './pooler.js';

const SECRETS = 50;
const SECONDS = 5;

const work = mkdtempSync(path.join(tmpdir(), 'trellis-pgbouncer-'));
chmodSync(work, 0o755);
const postgres = await startPostgres();
const pooler = await startPgbouncer(postgres.url);

const environment = { TRELLIS_SERVICES: 'secrets', DATABASE_URL: pooler.url };
const start = (state: string) =>
  startServer(['dist/cli.js', 'serve'], { ...environment, TRELLIS_STATE: state }, (at) => fetch(`${at}/healthz`));
const states = ['one', 'two'].map((name) => path.join(work, name)) as [string, string];
for (const state of states) mkdirSync(state, { mode: 0o700 });

const seeded = await seedSecrets({ url: pooler.url }, { secrets: SECRETS, writers: 4 });
const first = await start(states[0]);
copyFileSync(path.join(states[0], 'server.key'), path.join(states[1], 'server.key'));
const second = await start(states[1]);
const toPath = (): string => `/secrets/objects/object-${Math.floor(Math.random() * SECRETS)}`;
const options = { connections: 8, seconds: SECONDS, toPath, token: seeded.writeToken };
const loads: Load[] = await Promise.all([
  ...[first, second].flatMap(({ origin }) => [sendReads(origin, options), sendUpdates(origin, options)]),
  sendWrites(second.origin, seeded, SECONDS),
]);
const names = ['reads', 'updates', 'reads', 'updates', 'creates to deletes'];
for (const [index, load] of loads.entries()) process.stdout.write(`${names[index]}: ${JSON.stringify(load)}\n`);
const verified = await fetch(`${first.origin}/secrets/audit-log/verify?full=true`, {
  headers: { authorization: `Bearer ${seeded.writeToken}` },
});
process.stdout.write(`${await verified.text()}\n`);
await Promise.all([first.stop(), second.stop()]);
await pooler.stop();
await postgres.stop();
rmSync(work, { recursive: true, force: true });
