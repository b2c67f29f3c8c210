/** Runs the commands and the queries of a page of the documentation in a project. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { waitForLine } from './wait-for-line.js';

export interface RunOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** @throws Error with the output if the command fails. */
export async function runCommand(program: string, args: readonly string[], { cwd, env }: RunOptions): Promise<void> {
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${String(code)}:\n${output}`);
}

export async function writeProjectFile(file: string, text: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, text);
}

export interface QueryResult {
  readonly errors?: readonly { readonly message: string }[];
  readonly data?: Readonly<Record<string, unknown>>;
}

type Ask = (query: string) => Promise<QueryResult>;

/** Serves a project while queries are sent to it. */
export async function whileServed<T>(cli: string, options: RunOptions, use: (ask: Ask) => Promise<T>): Promise<T> {
  const server = spawn(cli, ['serve', '--port', '0'], { ...options, stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const origin = await waitForLine(server, /ready at (\S+)/u);
    return await use(async (query) => {
      const response = await fetch(`${origin}/graphql?query=${encodeURIComponent(query)}`);
      return (await response.json()) as QueryResult;
    });
  } finally {
    const ended = once(server, 'exit');
    if (server.exitCode === null && server.kill()) await ended;
  }
}
