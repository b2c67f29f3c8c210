/** The commands for a project of one's own: `init`, `generate` and `dev`. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, watch } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { importScript } from '../config/import-script.js';
import { CommandError, StartupError } from '../config/startup-error.js';

interface Output {
  readonly version: string;
  readonly print: (line: string) => void;
}

export const projectCommands = (output: Output): Command[] => [
  initCommand(output),
  generateCommand(),
  devCommand(output),
];

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
      const root = process.cwd();
      const file = join(root, 'codegen.ts');
      if (!existsSync(file)) {
        throw new StartupError(`${file} is missing. Run this in a project; "trellis init <folder>" writes one`);
      }
      const { runGenerate } = await import('@trellis/codegen/generate/command').catch((cause: unknown) => {
        throw new StartupError('The generators are not installed. Run "npm install --save-dev @trellis/dev"', {
          cause,
        });
      });
      const config = await importScript<Parameters<typeof runGenerate>[2]>(file);
      const modes = Object.keys(flags).map((name) => `--${name}`);
      const exitCode = await runGenerate(modes, root, config);
      if (exitCode !== 0) throw new CommandError('', exitCode);
    });
}

/** Editors save a file in several steps, and the generators write several files. */
const QUIET_MS = 200;

function devCommand({ print }: Output): Command {
  return new Command('dev')
    .description('Serve, and generate and start again after each change. Options are those of "trellis serve"')
    .allowUnknownOption()
    .allowExcessArguments()
    .action(async (_flags: unknown, command: Command) => {
      const generator = start(['generate', '--watch']);
      let server = start(['serve', ...command.args]);
      let timer: NodeJS.Timeout | undefined;
      const restart = () => {
        print('Changed: starting again.');
        const next = () => (server = start(['serve', ...command.args]));
        if (server.exitCode !== null || server.signalCode !== null) next();
        else server.once('exit', next).kill();
      };
      const schedule = () => {
        clearTimeout(timer);
        timer = setTimeout(restart, QUIET_MS);
      };
      const watchers = [
        watch('src', { recursive: true }, schedule),
        watch('.', (_event, name) => name?.startsWith('trellis.config.') === true && schedule()),
      ];
      await new Promise<void>((resolve) => {
        for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
      });
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
      generator.kill();
      server.kill();
    });
}

const start = (args: readonly string[]): ChildProcess =>
  spawn(process.execPath, [...process.execArgv, fileURLToPath(new URL(CLI, import.meta.url)), ...args], {
    stdio: 'inherit',
  });

/** The command, in the build or in the sources. */
const CLI = import.meta.url.endsWith('.ts') ? '../cli.ts' : '../cli.js';
