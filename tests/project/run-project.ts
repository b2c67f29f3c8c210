/** Runs the commands and the queries of a page of the documentation in a project. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { PageFile } from './add-a-service.js';
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

/**
 * Writes a new project with the generated code, which uses the built packages of this repository.
 *
 * @returns the path of its `trellis.config.ts`.
 */
export async function createProject(project: string, options: readonly string[] = []): Promise<string> {
  const cli = path.resolve('dist/cli.js');
  const { PATH } = process.env;
  await runCommand(process.execPath, [cli, 'init', project, ...options], { cwd: path.dirname(project), env: { PATH } });
  await mkdir(path.join(project, 'node_modules'));
  await symlink(path.resolve(), path.join(project, 'node_modules/trellis'));
  await symlink(path.resolve('node_modules/@trellis'), path.join(project, 'node_modules/@trellis'));
  await generateProject(project);
  return path.join(project, 'trellis.config.ts');
}

export const generateProject = (project: string): Promise<void> =>
  runCommand(process.execPath, [path.resolve('dist/cli.js'), 'generate'], {
    cwd: project,
    env: { PATH: process.env.PATH },
  });

export async function writeProjectFile(file: string, text: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, text);
}

interface FollowOptions {
  /** The folder in which the page begins. */
  readonly folder: string;
  /** The name of the project that the page creates. */
  readonly name: string;
  /** The installed packages. */
  readonly modules: string;
  readonly env: NodeJS.ProcessEnv;
  /** The commands that are run in a different way, as they need a registry, or run until they are stopped. */
  readonly own: Readonly<Record<string, (cwd: string) => Promise<unknown>>>;
}

/** Writes the files of a page, and runs its commands, in a project whose packages are installed elsewhere. */
export async function followSteps(
  steps: readonly (PageFile | string)[],
  { folder, name, modules, env, own }: FollowOptions,
): Promise<void> {
  const project = path.join(folder, name);
  let cwd = folder;
  const known: FollowOptions['own'] = {
    [`npm create trellis ${name} -- --with site`]: () =>
      runCommand(process.execPath, [path.resolve('dist/cli.js'), 'init', name, '--with', 'site'], { cwd, env }),
    [`cd ${name}`]: async () => void (cwd = project),
    'npm install': () => symlink(modules, path.join(project, 'node_modules')),
    ...own,
  };
  for (const step of steps) {
    if (typeof step !== 'string') await writeProjectFile(path.join(project, step.file), step.text);
    else if (known[step]) await known[step](cwd);
    else if (step.startsWith('npx ')) {
      const [, program = '', ...args] = step.split(' ');
      await runCommand(path.join(modules, '.bin', program), args, { cwd, env });
    } else await runCommand('sh', ['-c', step], { cwd, env });
  }
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
