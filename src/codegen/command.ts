import { parseArgs } from 'node:util';
import type { CodegenConfig } from '@graphql-codegen/cli';
import { ContractError } from './contract-error.js';
import { generate } from './generate.js';
import { openProject } from './project.js';
import type { Project } from './project.js';
import { formatMistakes, formatOutcome } from './report.js';

const USAGE = `Usage: npm run generate [-- --check | --watch | --stub]

Makes src/generated from the contracts in schema/ and openapi/.

  --check   touches nothing; fails when src/generated is not what the contracts make of it
  --watch   stays, and generates after each save of a contract; Ctrl-C ends it
  --stub    also writes the handlers and resolvers that the contracts ask for and nobody wrote
  --help    shows this text`;

const OPTIONS = {
  check: { type: 'boolean' },
  watch: { type: 'boolean' },
  stub: { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

/**
 * Runs `npm run generate` with its flags and gives the exit code: 1 when a
 * contract has mistakes or `--check` found a difference, 2 for wrong flags.
 */
export async function runGenerate(flags: readonly string[], root: string, config: CodegenConfig): Promise<number> {
  const mode = parseMode(flags);
  if (mode === undefined) return 2;
  if (mode === 'help') return say(USAGE);
  const project = await openProject(root, config);
  if (mode === 'watch') return runWatch(project);
  return reportMistakes(project, () => RUNS[mode](project));
}

const RUNS = { generate: runOnce, check: runCheck, stub: runStub };

/** Gives the one thing that the flags ask for, or says why they ask for none. */
function parseMode(flags: readonly string[]): keyof typeof RUNS | 'watch' | 'help' | undefined {
  try {
    const { values } = parseArgs({ args: [...flags], options: OPTIONS });
    const [mode, second] = Object.keys(values) as (keyof typeof OPTIONS)[];
    if (second === undefined) return mode ?? 'generate';
    complain(`Expected at most one flag; received ${flags.join(' ')}.`);
  } catch (error) {
    complain(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  }
  return undefined;
}

async function runOnce(project: Project, useCache = true): Promise<number> {
  const start = performance.now();
  const outcome = await generate(project, { useCache });
  return say(formatOutcome(outcome, performance.now() - start));
}

async function runCheck(project: Project): Promise<number> {
  const [{ check }, { formatDifferences }] = await Promise.all([import('./check.js'), import('./report.js')]);
  const differences = await check(project);
  if (differences.length === 0) return say('src/generated is what the contracts make of it.');
  return complain(await formatDifferences(project.root, differences));
}

async function runStub(project: Project): Promise<number> {
  const { writeStubs } = await import('./stub.js');
  const start = performance.now();
  // The cache knows files, not skeletons, so every generator runs.
  const outcome = await generate(project, { useCache: false });
  say(formatOutcome(outcome, performance.now() - start));
  const stubs = await writeStubs(project.root, outcome.stubs);
  for (const { file, written } of stubs) if (written.length > 0) say(`${file}: wrote ${written.join(', ')}.`);
  for (const { toAdd } of stubs) if (toAdd) say(`${toAdd.file}: add\n  ${toAdd.lines.join('\n  ')}`);
  if (stubs.length === 0) say('No skeleton is missing.');
  const refused = stubs.filter((stub) => stub.refused !== undefined);
  for (const stub of refused) complain(`${stub.file}: ${stub.refused ?? ''}`);
  return refused.length > 0 ? 1 : 0;
}

async function runWatch(project: Project): Promise<number> {
  const { watch } = await import('./watch.js');
  const stop = new AbortController();
  const end = () => stop.abort();
  process.once('SIGINT', end).once('SIGTERM', end);
  say('Watching the contracts; Ctrl-C ends.');
  // The first run trusts no cache: it loads every generator, so that no save waits for that.
  let useCache = false;
  const run = async () => {
    await runAgain(project, useCache);
    useCache = true;
  };
  await watch(project, run, stop.signal);
  return 0;
}

/** Runs while watching, where a defect in a generator is told and the next save tries again. */
async function runAgain(project: Project, useCache: boolean): Promise<void> {
  try {
    await reportMistakes(project, () => runOnce(project, useCache));
  } catch (error) {
    console.error(error);
  }
}

/** Turns mistakes in a contract into text and an exit code; any other error goes on. */
async function reportMistakes(project: Project, run: () => Promise<number>): Promise<number> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    const { mistakes } = error;
    const count = mistakes.length === 1 ? 'One mistake' : `${mistakes.length} mistakes`;
    return complain(`${await formatMistakes(project.root, mistakes)}\n${count}; no file was touched.`);
  }
}

function say(text: string): number {
  process.stdout.write(`${text}\n`);
  return 0;
}

function complain(text: string): number {
  process.stderr.write(`${text}\n`);
  return 1;
}
