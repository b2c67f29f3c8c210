import { spawn } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { findFreePort } from '../../tests/contract/free-port.js';

/** An unprivileged user: PgBouncer refuses to run as root. */
const NOBODY = 65_534;

export interface Pooler {
  /** The URL of the database behind the pooler. */
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts PgBouncer (`apt-get install pgbouncer`) in transaction mode, with four connections to a database. */
export async function startPgbouncer(url: string): Promise<Pooler> {
  const folder = await mkdtemp(path.join(tmpdir(), 'trellis-pgbouncer-'));
  await chmod(folder, 0o755);
  const { port: target, username, password } = new URL(url);
  const port = await findFreePort();
  const config = path.join(folder, 'pgbouncer.ini');
  await writeFile(
    config,
    `[databases]
* = host=127.0.0.1 port=${target} user=${username} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 4
`,
  );
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const child = spawn('pgbouncer', ['-q', config], { stdio: 'inherit', ...user });
  const pooled = Object.assign(new URL(url), { port: String(port) }).href;
  while (!(await accepts(pooled))) await sleep(50);
  return {
    url: pooled,
    pid: child.pid ?? 0,
    async stop() {
      child.kill('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function accepts(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.end();
    return true;
  } catch {
    return false;
  }
}
