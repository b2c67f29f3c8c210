/** The commands for your own project: `init`, `generate`, `diff` and `dev`. */
import { type ChildProcess, spawn, type StdioOptions } from 'node:child_process';
import { existsSync, watch } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { watchTree } from '@trellis/core/watch-tree';
import { Command } from 'commander';
import { readEnvironment } from '../config/environment.js';
import { importScript } from '../config/import-script.js';
import { CommandError, oneLine, StartupError } from '../config/startup-error.js';
import { runProgram, wantsJson } from './run-program.js';

interface Output {
  readonly version: string;
  readonly print: (line: string) => void;
}

/** Runs the command that the arguments name; only those for a project are known to it. */
export async function runProjectProgram(version: string): Promise<void> {
  const program = new Command('trellis').version(version);
  const print = (line: string): void => void process.stdout.write(`${line}\n`);
  for (const command of projectCommands({ version, print })) program.addCommand(command);
  reportMistakes(program);
  await runProgram(program);
}

/** Makes wrong arguments failures of the commands, so that they are reported as JSON if `--json` is one of them. */
export function reportMistakes(program: Command): void {
  for (const command of program.commands) {
    // 1 is the exit code for a breaking change.
    const usage = command.name() === 'diff' ? 2 : 1;
    command.exitOverride(({ exitCode, message }) => {
      // Commander has printed the error as text; 0 is for --help.
      const text = wantsJson(process.argv) ? message.replace(/^error: /, '') : '';
      throw exitCode === 0 ? new CommandError('', 0) : new CommandError(text, usage);
    });
    if (wantsJson(process.argv)) command.configureOutput({ writeErr: () => undefined });
    reportMistakes(command);
  }
}

export const projectCommands = (output: Output): Command[] => [initCommand(output), generateCommand(), diffCommand()];

function initCommand({ version, print }: Output): Command {
  return new Command('init')
    .description('Write a small project with a service of its own into a new folder')
    .argument('<folder>', 'the folder, which must not exist or be empty')
    .option('--with <parts>', 'more to switch on, separated by commas: accounts, dashboard, secrets, site')
    .action(async (folder: string, flags: { readonly with?: string }) => {
      const { createProject, ProjectError } = await import('create-trellis/create-project');
      try {
        const { npm_config_user_agent: userAgent = '' } = readEnvironment();
        print(await createProject(folder, { version, parts: flags.with?.split(',') ?? [], userAgent }));
      } catch (error) {
        throw error instanceof ProjectError ? new StartupError(error.message) : error;
      }
    });
}

function generateCommand(): Command {
  return new Command('generate')
    .description('Generate src/generated from the contracts in schema/ and openapi/, as codegen.ts lists them')
    .option('--check', 'change no file; fail if src/generated is out of date')
    .option('--watch', 'generate again after each save of a contract, until Ctrl-C')
    .option('--stub', 'also write stubs of missing handlers and resolvers')
    .action(async (flags: Readonly<Record<string, boolean>>) => {
      const file = findTargets();
      const { runGenerate } = await import('@trellis/codegen/generate/command').catch(throwNotInstalled);
      const config = await importTargets<Parameters<typeof runGenerate>[2]>(file);
      const modes = Object.keys(flags).map((name) => `--${name}`);
      // "trellis dev" waits for the first run.
      const onRun = (): void => void (process.connected && process.send?.('generated'));
      const exitCode = await runGenerate(modes, process.cwd(), config, onRun);
      if (exitCode !== 0) throw new CommandError('', exitCode);
    });
}

function diffCommand(): Command {
  return new Command('diff')
    .description('Compare the contracts in schema/ and openapi/ with those of a git ref, and fail for breaking changes')
    .argument('[ref]', 'a commit, branch or tag, such as main')
    .option('--since-release', 'compare with the newest tag v*; pass without one')
    .option('--all', 'list safe changes too')
    .option('--json', 'print the changes as JSON')
    .addHelpText('after', '\nThe exit code is 1 for a breaking change, and 2 for wrong arguments.')
    .action(async (ref: string | undefined, flags: Readonly<Record<string, boolean>>) => {
      const file = findTargets();
      const { runDiff } = await import('@trellis/codegen/diff/command').catch(throwNotInstalled);
      const config = await importTargets<Parameters<typeof runDiff>[2]>(file);
      const modes = DIFF_FLAGS.flatMap(([name, flag]) => (flags[name] ? [flag] : []));
      const exitCode = await runDiff([...modes, ...(ref === undefined ? [] : ['--', ref])], process.cwd(), config);
      if (exitCode !== 0) throw new CommandError('', exitCode);
    });
}

const DIFF_FLAGS = [
  ['sinceRelease', '--since-release'],
  ['all', '--all'],
  ['json', '--json'],
] as const;

/** Returns the path of the project's list of targets. */
function findTargets(): string {
  const file = join(process.cwd(), 'codegen.ts');
  if (existsSync(file)) return file;
  throw new StartupError(`${file} is missing. Run this in a project; "trellis init <folder>" writes one`);
}

/** Imports the list of targets, which imports the configuration, and reports an error of these files as the server does. */
function importTargets<Targets>(file: string): Promise<Targets> {
  return importScript<Targets>(file).catch((cause: unknown) => {
    throw new StartupError(`${file}, or a file that it imports, is not valid: ${oneLine(cause)}`, { cause });
  });
}

function throwNotInstalled(cause: unknown): never {
  const remedy = 'Run "npm install --save-dev @trellis/dev", or "trellis serve" to serve what is generated';
  throw new StartupError(`The generators are not installed. ${remedy}`, { cause });
}

/** Editors save a file in several steps, and the generators write several files. */
const QUIET_MS = 200;

/** Creates a command that takes the options of `trellis serve`, which its caller adds, and passes them on. */
export function devCommand({ print }: Pick<Output, 'print'>): Command {
  return new Command('dev')
    .description('Serve, and generate and start again after each change. Options are those of "trellis serve"')
    .action(async () => {
      findTargets();
      const processes = new DevProcesses(print);
      const watchers = [
        watch('.', (_event, name) => {
          if (name === 'codegen.ts' || name?.startsWith('trellis.config.') === true) processes.schedule('generator');
        }),
        ...(existsSync('src') ? [watchTree('src', () => processes.schedule('server'), throwError)] : []),
      ];
      processes.schedule('generator');
      await new Promise<void>((resolve) => {
        for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
      });
      for (const watcher of watchers) watcher.close();
      await processes.close();
    });
}

function throwError(error: Error): never {
  throw error;
}

/** The generator and the server of `trellis dev`, which start again after changes. */
class DevProcesses {
  readonly #print: (line: string) => void;
  readonly #due = new Set<'generator' | 'server'>();
  #generator: ChildProcess | undefined;
  #server: ChildProcess | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isStarting = false;
  #isClosed = false;

  constructor(print: (line: string) => void) {
    this.#print = print;
  }

  /** Starts a process again when no more changes follow. The generator, which reads the configuration, precedes the server. */
  schedule(name: 'generator' | 'server'): void {
    this.#due.add('server').add(name);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#start(), QUIET_MS);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await Promise.all([stop(this.#generator), stop(this.#server)]);
  }

  async #start(): Promise<void> {
    if (this.#isStarting) return;
    this.#isStarting = true;
    while (this.#due.size > 0 && !this.#isClosed) {
      if (this.#server) this.#print('Changed: starting again.');
      if (this.#due.has('generator')) await this.#startGenerator();
      await this.#startServer();
    }
    this.#isStarting = false;
  }

  async #startServer(): Promise<void> {
    await stop(this.#server);
    // A server that has not started yet reads the changes until now, and the generated files.
    this.#due.delete('server');
    if (!this.#isClosed) this.#server = start(['serve', ...process.argv.slice(3)], 'inherit');
  }

  /** Resolves after the first run of the generator. */
  async #startGenerator(): Promise<void> {
    await stop(this.#generator);
    this.#due.delete('generator');
    if (this.#isClosed) return;
    const generator = start(['generate', '--watch'], ['inherit', 'inherit', 'inherit', 'ipc']);
    this.#generator = generator;
    await new Promise((resolve) => generator.once('message', resolve).once('exit', resolve));
  }
}

/** Ends a process, and waits for its end. */
function stop(child: ChildProcess | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) resolve();
    else child.once('exit', () => resolve()).kill();
  });
}

const start = (args: readonly string[], stdio: StdioOptions): ChildProcess =>
  spawn(process.execPath, [...process.execArgv, fileURLToPath(new URL(CLI, import.meta.url)), ...args], { stdio });

/** The command, in the build or in the sources. */
const CLI = import.meta.url.endsWith('.ts') ? '../cli.ts' : '../cli.js';
