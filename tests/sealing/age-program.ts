import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const isInstalled = spawnSync('age', ['--version']).status === 0;

/** Runs the tests with the reference program `age`, or skips them with a warning when it is not installed. */
export const describeWithAge: (name: string, tests: () => void) => void = (name, tests) => {
  if (isInstalled) {
    describe(name, tests);
    return;
  }
  process.stderr.write(`\n*** SKIPPED: "${name}" needs the program age (Debian package age). ***\n\n`);
  describe.skip(name, tests);
};

/** Runs `age` with bytes on standard input, and returns its output. */
export async function runAge(args: readonly string[], input: Uint8Array): Promise<Buffer> {
  const child = spawn('age', args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number];
  if (code !== 0) throw new Error(`age exited with code ${code}.`);
  return Buffer.concat(chunks);
}

/** Runs `age` with a passphrase. It reads passphrases only from a terminal, which `script` provides. */
export async function runAgeWithPassphrase(
  args: readonly string[],
  { folder, passphrase, input }: { readonly folder: string; readonly passphrase: string; readonly input: Uint8Array },
): Promise<Buffer> {
  const [from, to] = [join(folder, 'age-input'), join(folder, 'age-output')];
  await rm(to, { force: true });
  await writeFile(from, input);
  const command = `age ${[...args, '-o', to, from].join(' ')}`;
  const child = spawn('script', ['-qec', command, '/dev/null'], { stdio: ['pipe', 'ignore', 'inherit'] });
  // When it encrypts, age asks for the passphrase twice.
  child.stdin.end(`${passphrase}\n${passphrase}\n`);
  const [code] = (await once(child, 'close')) as [number];
  if (code !== 0) throw new Error(`age exited with code ${code}.`);
  return readFile(to);
}

/** Generates a key pair with `age-keygen`. The identity contains its comments. */
export function generateKeys(): { readonly identity: string; readonly recipient: string } {
  const { stdout } = spawnSync('age-keygen', { encoding: 'utf8' });
  const [, recipient = ''] = /public key: (age1\w+)/.exec(stdout) ?? [];
  return { identity: stdout, recipient };
}
