import { createQuote, type Location } from '../documents.js';
import type { OutputDetails } from '../output.js';
import { findDue, type LoadedTarget, type Project, runTargets, type TargetOutput } from './generate.js';
import { NO_ORIGINS } from './run-output.js';

/** A file of `src/generated` that differs from the output of the generators. */
export interface Difference {
  /** Path from the root. */
  file: string;
  kind: 'missing' | 'edited' | 'stale';
  /** The number of the first line that differs, from 1. */
  line: number;
  /** That line as generated and as found on disk; absent past the end of the file. */
  expected?: string;
  found?: string;
  /** The contract line that the generated line comes from. */
  origin?: Location;
}

/**
 * Compares `src/generated` with the output of the generators, and changes no file. Targets whose inputs and files have not
 * changed since their last run are up to date; all others are generated in memory.
 *
 * @throws ContractError when the contract has errors.
 */
export async function check(project: Project): Promise<Difference[]> {
  const { onDisk, fresh, due } = await findDue(project, true);
  const outputs = due.length === 0 ? [] : await runTargets(project, due);
  const isDifferent = ({ files }: TargetOutput) => [...files].some(([file, text]) => onDisk.get(file) !== text);
  const different = outputs.filter(isDifferent);
  const differing = (await locate(project, due, different)).flatMap(({ target, files: own, details }) =>
    [...own].flatMap(([file, text]) => {
      const found = onDisk.get(file);
      const locateLine = details.lineOrigins?.get(file.slice(target.output.length));
      return found === text ? [] : [toDifference(file, text, found, { ...details, locateLine })];
    }),
  );
  const generated = new Set([
    ...outputs.flatMap(({ files }) => [...files.keys()]),
    ...Object.values(fresh).flatMap((entry) => Object.keys(entry.outputs)),
  ]);
  const stale = [...onDisk.keys()].filter((file) => !generated.has(file));
  return [...differing, ...stale.map((file): Difference => ({ file, kind: 'stale', line: 1 }))];
}

/** Runs the targets of outputs that came from threads again, as only this thread can locate generated lines. */
async function locate(
  project: Project,
  due: readonly LoadedTarget[],
  outputs: readonly TargetOutput[],
): Promise<readonly TargetOutput[]> {
  const remote = new Set(outputs.filter(({ details }) => details.origins === NO_ORIGINS).map(({ target }) => target));
  if (remote.size === 0) return outputs;
  const jobs = due.filter(({ target }) => remote.has(target));
  return [...outputs.filter(({ target }) => !remote.has(target)), ...(await runTargets(project, jobs, 1))];
}

interface OriginLookups extends Pick<OutputDetails, 'origins'> {
  /** Finds the contract line of a generated line, for files that have line origins instead of named ones. */
  locateLine: ((line: number) => Location | undefined) | undefined;
}

function toDifference(file: string, text: string, foundText: string | undefined, origins: OriginLookups): Difference {
  const expected = text.split('\n');
  if (foundText === undefined) return { file, kind: 'missing', line: 1 };
  const found = foundText.split('\n');
  const index = expected.findIndex((line, at) => line !== found[at]);
  const at = index < 0 ? expected.length : index;
  const { locateLine } = origins;
  const origin = locateLine ? locateLine(at + 1) : findSourceLine(expected, at, found[at], origins.origins());
  return { file, kind: 'edited', line: at + 1, expected: expected[at], found: found[at], origin };
}

/** Formats the result of `--check`: each file with its first differing line and the contract line it comes from. */
export async function formatDifferences(root: string, differences: readonly Difference[]): Promise<string> {
  const quote = createQuote(root);
  const shown = await Promise.all(differences.map((difference) => formatDifference(difference, quote)));
  return [...shown.flat(), 'Run "npm run generate" and commit the changes.'].join('\n');
}

async function formatDifference(difference: Difference, quote: ReturnType<typeof createQuote>): Promise<string[]> {
  const { file, kind, line, expected, found, origin } = difference;
  if (kind === 'stale') return [`${file} is stale: no contract generates it.`];
  const head =
    kind === 'missing'
      ? [`${file} is missing.`]
      : [`${file}:${line} differs.`, `  expected  ${showLine(expected)}`, `  found     ${showLine(found)}`];
  if (origin === undefined) return head;
  return [...head, `  from ${origin.file}:${origin.line}:${origin.column}`, ...(await quote(origin))];
}

/** The limit of characters shown of a line, as generated bundles have very long ones. */
const MAX_SHOWN = 160;

const showLine = (line: string | undefined) => (line === undefined ? '(end of file)' : line.slice(0, MAX_SHOWN));

type Origins = ReadonlyMap<string, Location>;

/**
 * Finds the contract line that a generated line comes from. Tries, in this order: the member that the line declares,
 * the names that the line on disk lacks, and the names on the line and on the lines that enclose it, innermost first.
 * Returns `undefined` rather than an uncertain match.
 *
 * @param found The line on disk in the place of the generated one.
 */
export function findSourceLine(
  lines: readonly string[],
  at: number,
  found: string | undefined,
  origins: Origins,
): Location | undefined {
  const enclosing = listEnclosing(lines, at);
  const known = new Set(wordsOf(found ?? ''));
  const added = wordsOf(lines[at] ?? '').filter((word) => !known.has(word));
  return findMember(enclosing, origins) ?? findFirst(added, origins) ?? findFirst(enclosing.flatMap(wordsOf), origins);
}

/** Lists the line and, by indentation, the lines above that enclose it, innermost first. */
function listEnclosing(lines: readonly string[], at: number): string[] {
  const enclosing = [lines[at] ?? ''];
  let depth = depthOf(enclosing[0]);
  for (let index = at - 1; index >= 0 && depth > 0; index -= 1) {
    const line = lines[index] ?? '';
    if (line.trim() === '' || depthOf(line) >= depth) continue;
    enclosing.push(line);
    depth = depthOf(line);
  }
  return enclosing;
}

/** Finds `Owner.member`: the member is the first name of the line, the owner any name on it or on an enclosing line. */
function findMember(enclosing: readonly string[], origins: Origins): Location | undefined {
  const [member] = wordsOf(enclosing[0] ?? '');
  const owners = enclosing.flatMap(wordsOf);
  return findFirst(
    owners.map((owner) => `${owner}.${member ?? ''}`),
    origins,
  );
}

function findFirst(names: readonly string[], origins: Origins): Location | undefined {
  const name = names.find((candidate) => origins.has(candidate));
  return name === undefined ? undefined : origins.get(name);
}

const wordsOf = (line: string): readonly string[] => line.match(/[\w$]+/gu) ?? [];

const depthOf = (line = ''): number => line.length - line.trimStart().length;
