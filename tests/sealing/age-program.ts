import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const isInstalled = spawnSync('age', ['--version']).status === 0;

/** Runs the tests beside the reference program; without it says loudly that it does not. */
export const describeWithAge: (name: string, tests: () => void) => void = (name, tests) => {
  if (isInstalled) {
    describe(name, tests);
    return;
  }
  process.stderr.write(`\n*** SKIPPED: "${name}" needs the program age (Debian package age). ***\n\n`);
  describe.skip(name, tests);
};

/** Gives bytes to `age`, and gives what it prints. */
export async function runAge(args: readonly string[], input: Uint8Array): Promise<Buffer> {
  const child = spawn('age', args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number];
  if (code !== 0) throw new Error(`age ended with ${code}.`);
  return Buffer.concat(chunks);
}

/** The same with a passphrase, which `age` takes from a terminal alone; `script` is one. */
export async function runAgeWithPassphrase(
  args: readonly string[],
  { folder, passphrase, input }: { readonly folder: string; readonly passphrase: string; readonly input: Uint8Array },
): Promise<Buffer> {
  const [from, to] = [join(folder, 'age-input'), join(folder, 'age-output')];
  await rm(to, { force: true });
  await writeFile(from, input);
  const command = `age ${[...args, '-o', to, from].join(' ')}`;
  const child = spawn('script', ['-qec', command, '/dev/null'], { stdio: ['pipe', 'ignore', 'inherit'] });
  // Asked for twice when a file is made.
  child.stdin.end(`${passphrase}\n${passphrase}\n`);
  const [code] = (await once(child, 'close')) as [number];
  if (code !== 0) throw new Error(`age ended with ${code}.`);
  return readFile(to);
}

/** A key pair as `age-keygen` writes it: comments, and the identity. */
export function generateKeys(): { readonly identity: string; readonly recipient: string } {
  const { stdout } = spawnSync('age-keygen', { encoding: 'utf8' });
  const [, recipient = ''] = /public key: (age1\w+)/.exec(stdout) ?? [];
  return { identity: stdout, recipient };
}
