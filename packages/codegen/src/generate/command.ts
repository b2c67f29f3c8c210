import { existsSync, type WatchListener, watch as watchFolder } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Types } from '@graphql-codegen/plugin-helpers';
import { watchTree } from '@trellis/core/watch-tree';
import { ContractError, createQuote, type Diagnostic, matchesPattern, splitPattern } from '../documents.js';
import { generate, type GenerateResult, openProject, type Project } from './generate.js';
import { LARGE } from './run-output.js';

const USAGE = `Usage: npm run generate [-- --check | --watch | --stub]

Generates src/generated from the contracts in schema/ and openapi/.

  --check   changes no file; fails if src/generated is out of date
  --watch   generates again after each save of a contract, until Ctrl-C
  --stub    also writes stubs of missing handlers and resolvers
  --help    shows this text`;

const OPTIONS = {
  check: { type: 'boolean' },
  watch: { type: 'boolean' },
  stub: { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

/**
 * Runs `npm run generate` with its flags and returns the exit code: 1 when a contract has errors, `--check` found a
 * difference or `--stub` could not change a file; 2 for invalid flags. `onRun` is called after each run of `--watch`.
 */
export async function runGenerate(
  flags: readonly string[],
  root: string,
  config: Types.Config,
  onRun: () => void = () => undefined,
): Promise<number> {
  const mode = parseMode(flags);
  if (mode === undefined) return 2;
  if (mode === 'help') return print(USAGE);
  return reportErrors(root, async () => {
    const project = { ...(await openProject(root, config)), onProgress: createTargetProgress(process.stderr) };
    return mode === 'watch' ? runWatch(project, onRun) : RUNS[mode](project);
  });
}

/** Documents of usual sizes take less. */
const PROGRESS_AFTER_MILLISECONDS = 1000;

/**
 * Shows on a terminal which outputs are being made, in a line that is removed at the end. Large documents show it at once, as
 * timers wait for their generators.
 */
export function createTargetProgress(
  stream: Pick<NodeJS.WriteStream, 'columns' | 'isTTY' | 'write'>,
): NonNullable<Project['onProgress']> | undefined {
  if (!stream.isTTY) return undefined;
  let timer: NodeJS.Timeout | undefined;
  let isShown = false;
  const draw = (due: ReadonlyMap<string, number>): void => {
    const line = due.size === 0 ? '' : `Generating ${[...due.keys()].join(', ')}…`;
    // Some terminals do not know their width.
    stream.write(`\r\u001B[K${line.slice(0, (stream.columns > 0 ? stream.columns : 80) - 1)}`);
    isShown = due.size > 0;
  };
  return (due) => {
    clearTimeout(timer);
    if (isShown || [...due.values()].some((size) => size >= LARGE)) draw(due);
    else if (due.size > 0) timer = setTimeout(draw, PROGRESS_AFTER_MILLISECONDS, due);
  };
}

const RUNS = { generate: runOnce, check: runCheck, stub: runStub };

/** Returns the mode that the flags select. For invalid flags, prints the reason and returns `undefined`. */
function parseMode(flags: readonly string[]): keyof typeof RUNS | 'watch' | 'help' | undefined {
  try {
    const { values } = parseArgs({ args: [...flags], options: OPTIONS });
    const [mode, second] = Object.keys(values) as (keyof typeof OPTIONS)[];
    if (second === undefined) return mode ?? 'generate';
    printError(`Expected at most one flag; received ${flags.join(' ')}.`);
  } catch (error) {
    printError(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  }
  return undefined;
}

async function runOnce(project: Project, useCache = true): Promise<number> {
  await runAndPrint(project, useCache);
  return 0;
}

/** Generates, and prints the warnings and the changes. */
async function runAndPrint(project: Project, useCache = true): Promise<GenerateResult> {
  const start = performance.now();
  const outcome = await generate(project, { useCache });
  await printWarnings(project, outcome.warnings);
  print(formatResult(outcome, performance.now() - start));
  return outcome;
}

async function runCheck(project: Project): Promise<number> {
  const { check, formatDifferences } = await import('./check.js');
  const differences = await check(project);
  if (differences.length === 0) return print('src/generated is up to date.');
  return printError(await formatDifferences(project.root, differences));
}

async function runStub(project: Project): Promise<number> {
  const { writeStubs } = await import('./stub.js');
  const outcome = await runAndPrint(project);
  const stubs = await writeStubs(project.root, outcome.stubs);
  for (const { file, written } of stubs) if (written.length > 0) print(`${file}: wrote ${written.join(', ')}.`);
  for (const { toAdd } of stubs) if (toAdd) print(`${toAdd.file}: add\n  ${toAdd.lines.join('\n  ')}`);
  if (stubs.length === 0) print('No stub is missing.');
  const refused = stubs.filter((stub) => stub.refused !== undefined);
  for (const stub of refused) printError(`${stub.file}: ${stub.refused ?? ''}`);
  return refused.length > 0 ? 1 : 0;
}

async function runWatch(project: Project, onRun: () => void): Promise<number> {
  const controller = new AbortController();
  const stop = () => controller.abort();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  print('Watching the contracts. Press Ctrl-C to stop.');
  // The first run ignores the cache and thereby loads every generator, so that later runs are fast.
  let useCache = false;
  const run = async () => {
    await runAgain(project, useCache);
    useCache = true;
    onRun();
  };
  await watch(project, run, controller.signal);
  return 0;
}

/** Runs while watching: an internal error of a generator is printed, and the next save runs it again. */
async function runAgain(project: Project, useCache: boolean): Promise<void> {
  try {
    await reportErrors(project.root, () => runOnce(project, useCache));
  } catch (error) {
    console.error(error);
  }
}

/** Prints the errors of a contract, or of the file system, and returns the exit code. Rethrows any other error. */
async function reportErrors(root: string, run: () => Promise<number>): Promise<number> {
  try {
    return await run();
  } catch (error) {
    // Only errors of the operating system, such as a full disk, have a number.
    if (error instanceof Error && typeof (error as NodeJS.ErrnoException).errno === 'number')
      return printError(`The files of the project can't be read or written: ${error.message}.`);
    if (!(error instanceof ContractError)) throw error;
    const diagnostics = error.diagnostics;
    const count = diagnostics.length === 1 ? '1 error' : `${diagnostics.length} errors`;
    const guide = `What contracts may contain: ${findGuide(root)}`;
    return printError(`${await formatDiagnostics(root, diagnostics)}\n${count}. No file was changed. ${guide}`);
  }
}

/** The guide for authors of contracts: in a checkout, or its copy in the package. */
const GUIDES = ['../../../../docs/contracts.md', '../contracts.md'];

/** Returns the path of the guide from the folder of the project. */
function findGuide(root: string): string {
  const files = GUIDES.map((place) => fileURLToPath(new URL(place, import.meta.url)));
  return path.relative(root, files.find((file) => existsSync(file)) ?? '');
}

function print(text: string): number {
  process.stdout.write(`${text}\n`);
  return 0;
}

function printError(text: string): number {
  process.stderr.write(`${text}\n`);
  return 1;
}

/** Documents from elsewhere have hundreds of warnings, which users do not read. */
const MAX_WARNINGS = 30;

/** Prints the warnings of a run to standard error. */
async function printWarnings({ root }: Project, warnings: readonly Diagnostic[]): Promise<void> {
  if (warnings.length === 0) return;
  const count = warnings.length === 1 ? '1 warning' : `${warnings.length} warnings`;
  const more = warnings.length > MAX_WARNINGS ? ` The first ${MAX_WARNINGS} are shown.` : '';
  printError(`${await formatDiagnostics(root, warnings.slice(0, MAX_WARNINGS))}\n${count}.${more}`);
}

/** Formats the changes of a run in one line. */
function formatResult(outcome: GenerateResult, milliseconds: number): string {
  const { written, removed, unchanged } = outcome;
  const time = `${Math.round(milliseconds)} ms`;
  if (written.length + removed.length === 0) return `Nothing changed: ${unchanged} files, ${time}.`;
  return `Generated: ${written.length} files written, ${removed.length} removed, ${unchanged} unchanged, ${time}.`;
}

/** Formats errors as `file:line:column message`, each followed by the contract line and a caret below the position. */
async function formatDiagnostics(root: string, diagnostics: readonly Diagnostic[]): Promise<string> {
  const quote = createQuote(root);
  const shown = diagnostics.map(async (diagnostic) => {
    const { file, line, column, message } = diagnostic;
    return [`${file}:${line}:${column} ${message}`, ...(await quote(diagnostic))].join('\n');
  });
  return (await Promise.all(shown)).join('\n');
}

/** Editors save a file in several steps within a few milliseconds, which must cause only one run. */
const QUIET_MILLISECONDS = 50;

/**
 * Calls `run` immediately and after each save of a document until the signal aborts. Runs never overlap. Resolves when
 * the last run has finished. `run` must not reject.
 */
export async function watch(project: Project, run: () => Promise<void>, signal: AbortSignal): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();
  const schedule = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      running = running.then(run);
    }, QUIET_MILLISECONDS);
  };

  await new Promise<void>((resolve, reject) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
    watchDocuments(project, schedule, reject, signal);
    running = run();
  });
  clearTimeout(timer);
  await running;
}

/** Calls `onSave` after each change of a document, also in folders that are created, moved or replaced later. */
function watchDocuments(
  { root, targets }: Project,
  onSave: () => void,
  onError: (error: Error) => void,
  signal: AbortSignal,
): void {
  const patterns = targets.flatMap(({ documents }) => documents);
  const folders = new Map(patterns.map((pattern) => [path.posix.dirname(pattern), splitPattern(pattern)]));
  const parents = [...folders.values()].flatMap(({ folder }) => listParents(folder));
  let watchers: { readonly close: () => void }[] = [];
  const watchOne = (folder: string, isDeep: boolean, listener: WatchListener<string>): void => {
    const place = path.join(root, folder);
    try {
      watchers.push(isDeep ? watchTree(place, listener, report) : watchFolder(place, listener).on('error', report));
    } catch (error) {
      report(error as Error);
    }
  };
  // The parent of a missing folder reports when it is created.
  const report = (error: NodeJS.ErrnoException): void => {
    if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') onError(error);
  };
  const close = (): void => {
    for (const watcher of watchers) watcher.close();
    watchers = [];
  };
  const open = (): void => {
    close();
    for (const { parent, name } of parents) {
      watchOne(parent, false, (event, changed) => {
        if (event !== 'rename' || (changed !== null && changed !== name)) return;
        // The watchers follow the previous folder, wherever it is now.
        open();
        onSave();
      });
    }
    for (const [parent, { folder, isDeep }] of folders) {
      const own = patterns.filter((pattern) => path.posix.dirname(pattern) === parent);
      watchOne(folder, isDeep, (_event, name) => {
        if (name === null || own.some((pattern) => matchesPattern(pattern, path.basename(name)))) onSave();
      });
    }
  };
  signal.addEventListener('abort', close, { once: true });
  open();
}

/** Lists the folders above a folder, each with the name of the next one on the way to it. */
function listParents(folder: string): readonly { readonly parent: string; readonly name: string }[] {
  const names = folder.split('/').filter((name) => name !== '.');
  return names.map((name, index) => ({ parent: names.slice(0, index).join('/'), name }));
}
