/** The commands for your own project: `init`, `generate`, `diff` and `dev`. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, watch } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { watchTree } from '@trellis/core/watch-tree';
import { Command } from 'commander';
import { importScript } from '../config/import-script.js';
import { CommandError, StartupError } from '../config/startup-error.js';
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
        print(await createProject(folder, { version, parts: flags.with?.split(',') ?? [] }));
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
      const config = await importScript<Parameters<typeof runGenerate>[2]>(file);
      const modes = Object.keys(flags).map((name) => `--${name}`);
      const exitCode = await runGenerate(modes, process.cwd(), config);
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
      const config = await importScript<Parameters<typeof runDiff>[2]>(file);
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

function throwNotInstalled(cause: unknown): never {
  throw new StartupError('The generators are not installed. Run "npm install --save-dev @trellis/dev"', { cause });
}

/** Editors save a file in several steps, and the generators write several files. */
const QUIET_MS = 200;

/** Creates a command that takes the options of `trellis serve`, which its caller adds, and passes them on. */
export function devCommand({ print }: Pick<Output, 'print'>): Command {
  return new Command('dev')
    .description('Serve, and generate and start again after each change. Options are those of "trellis serve"')
    .action(async () => {
      findTargets();
      const serve = ['serve', ...process.argv.slice(3)];
      const generator = start(['generate', '--watch']);
      let server = start(serve);
      let timer: NodeJS.Timeout | undefined;
      let isRestarting = false;
      let isOver = false;
      const startAgain = async (): Promise<void> => {
        isRestarting = true;
        await stop(server);
        isRestarting = false;
        if (!isOver) server = start(serve);
      };
      const restart = () => {
        // A server that has not started yet reads this change too.
        if (isRestarting) return;
        print('Changed: starting again.');
        void startAgain();
      };
      const schedule = () => {
        clearTimeout(timer);
        timer = setTimeout(restart, QUIET_MS);
      };
      const watchers = [
        ...(existsSync('src') ? [watchTree('src', schedule, throwError)] : []),
        watch('.', (_event, name) => name?.startsWith('trellis.config.') === true && schedule()),
      ];
      await new Promise<void>((resolve) => {
        for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
      });
      isOver = true;
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
      await Promise.all([stop(generator), stop(server)]);
    });
}

function throwError(error: Error): never {
  throw error;
}

/** Ends a process, and waits for its end. */
function stop(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve();
    else child.once('exit', () => resolve()).kill();
  });
}

const start = (args: readonly string[]): ChildProcess =>
  spawn(process.execPath, [...process.execArgv, fileURLToPath(new URL(CLI, import.meta.url)), ...args], {
    stdio: 'inherit',
  });

/** The command, in the build or in the sources. */
const CLI = import.meta.url.endsWith('.ts') ? '../cli.ts' : '../cli.js';
