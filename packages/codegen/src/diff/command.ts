import { execFile } from 'node:child_process';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';
import type { CodegenConfig } from '@graphql-codegen/cli';
import {
  ContractError,
  type Diagnostic,
  findText,
  type Location,
  matchesPath,
  readDocuments,
  throwDiagnostics,
} from '../documents.js';
import { listTargets } from '../generate/generate.js';
import { METHODS } from '../openapi/contract.js';
import { child, entries, findTextField, has, parseSource, type ReportDiagnostic } from '../openapi/nodes.js';
import { wrapFragment } from '../openapi/references.js';
import { upgradeContract } from '../openapi/upgrade.js';
import type { ContractChange, Severity } from './changes.js';
import { compareGraphql } from './graphql.js';
import { compareContracts, type ContractVersion } from './openapi.js';

const USAGE = `Usage: trellis diff <ref> [--all] [--json]
       trellis diff --since-release

Compares the contracts of a git ref, such as main or v1.2.0, with those of the working tree.

  --since-release  compares with the newest tag v*; passes without one
  --all            lists safe changes too
  --json           prints the changes as JSON
  --help           shows this text

The exit code is 1 for a breaking change, and 2 for wrong arguments or contracts that can't be read.`;

const OPTIONS = {
  'since-release': { type: 'boolean' },
  all: { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

/** Receives what the command prints: the process, unless a test reads it. */
interface Output {
  readonly stdout: { write: (text: string) => unknown };
  readonly stderr: { write: (text: string) => unknown };
}

const run = promisify(execFile);

/** The largest output of git: listings and documents. */
const MAX_OUTPUT_BYTES = 2 ** 28;

/**
 * Compares the contracts of `codegen.ts` with those of a git ref, prints the changes, and returns the exit code: 1 for
 * a breaking change, 2 for wrong arguments, an unknown ref or contracts that can't be read.
 */
export async function runDiff(
  args: readonly string[],
  root: string,
  config: CodegenConfig,
  { stdout, stderr }: Output = process,
): Promise<number> {
  const parsed = parse(args);
  const fail = (error: string, help = ''): number =>
    print(stderr, args.includes('--json') ? JSON.stringify({ error, exit_code: 2 }) : `${error}${help}`, 2);
  if (typeof parsed === 'string') return fail(parsed, `\n\n${USAGE}`);
  const { values, ref: given } = parsed;
  if (values.help) return print(stdout, USAGE, 0);
  const ref = given ?? (await findRelease(root));
  if (ref === undefined) {
    const text = 'There is no release to compare with: no tag is named v*.';
    return print(stdout, values.json ? JSON.stringify({ ref: null, changes: [] }, null, 2) : text, 0);
  }
  if (!(await isCommit(root, ref))) return fail(`Expected a commit, branch or tag; received "${ref}".`);
  const changes = await compareWithRef(root, config, ref).catch((error: unknown) => {
    if (error instanceof ContractError) return error;
    throw error;
  });
  if (changes instanceof ContractError) return fail(changes.message);
  const code = changes.some(({ severity }) => severity === 'breaking') ? 1 : 0;
  const text = values.json ? JSON.stringify({ ref, changes }, null, 2) : format(ref, changes, values.all ?? false);
  return print(stdout, text, code);
}

function parse(args: readonly string[]) {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
    const [ref, extra] = positionals;
    const isValid =
      values.help === true || (extra === undefined && (ref === undefined) === (values['since-release'] ?? false));
    const received = args.length === 0 ? 'neither' : `"${args.join(' ')}"`;
    return isValid ? { values, ref } : `Expected a ref or --since-release; received ${received}.`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function print(stream: Output['stdout'], text: string, code: number): number {
  stream.write(`${text}\n`);
  return code;
}

async function git(root: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await run('git', args, { cwd: root, maxBuffer: MAX_OUTPUT_BYTES });
  return stdout;
}

const findRelease = async (root: string): Promise<string | undefined> =>
  git(root, 'describe', '--tags', '--abbrev=0', '--match', 'v*').then(
    (text) => text.trim(),
    () => undefined,
  );

const isCommit = (root: string, ref: string): Promise<boolean> =>
  git(root, 'rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`).then(
    () => true,
    () => false,
  );

/**
 * Compares all contracts of the targets, and finds the lines of the repository's programs that use what changed.
 *
 * @throws ContractError if the contracts of the working tree can't be read.
 */
export async function compareWithRef(
  root: string,
  config: CodegenConfig,
  ref: string,
): Promise<readonly ContractChange[]> {
  const paths = (await git(root, 'ls-tree', '-r', '-z', '--name-only', ref)).split('\0');
  const previous: Version = {
    read: async (pattern) => {
      const names = paths.filter((name) => matchesPath(pattern, name));
      return new Map(
        await Promise.all(
          names.sort().map(async (name) => [name, await git(root, 'show', `${ref}:./${name}`)] as const),
        ),
      );
    },
  };
  const current: Version = { read: (pattern) => readDocuments(root, [pattern]).catch(() => new Map<string, string>()) };
  const programs = await readPrograms(root);
  const changes = await Promise.all(
    listTargets(config).map(async ({ output, documents }) => {
      const [before, after] = await Promise.all([previous, current].map((version) => readAll(version, documents)));
      if (before === undefined || after === undefined) return [];
      const name = [...after.keys(), ...before.keys()][0] ?? '';
      if (/\.(?:json|ya?ml)$/.test(name)) return diffService(before, after, ref, programs);
      return /\.(?:graphql|gql)$/.test(name) ? diffSchema({ output, ref, previous }, before, after) : [];
    }),
  );
  return merge(changes.flat());
}

/** The documents of one state of the repository. */
interface Version {
  /** Returns path → text of the documents that match a pattern. */
  readonly read: (pattern: string) => Promise<ReadonlyMap<string, string>>;
}

type Documents = ReadonlyMap<string, string>;

async function readAll(version: Version, patterns: readonly string[]): Promise<Documents> {
  return new Map((await Promise.all(patterns.map((pattern) => version.read(pattern)))).flatMap((found) => [...found]));
}

/** The programs that people write: generated code follows from the contracts. */
async function readPrograms(root: string): Promise<readonly Program[]> {
  const files = (await git(root, 'ls-files', '-z', '*.ts', '*.tsx', '*.js')).split('\0');
  const own = files.filter((file) => file !== '' && !/(^|\/)(generated|tests?|bench|handlers)\//.test(file));
  return Promise.all(own.map(async (file) => [file, (await findText(path.join(root, file))) ?? ''] as const));
}

function diffService(
  before: Documents,
  after: Documents,
  ref: string,
  programs: readonly Program[],
): readonly ContractChange[] {
  const errors: Diagnostic[] = [];
  const versions = [toVersion(before, []), toVersion(after, errors)] as const;
  throwDiagnostics(errors);
  const paths = new Map(versions.flatMap((version) => listPaths(version)));
  return compareContracts(...versions, ref).map((change) => ({
    ...change,
    consumers: unique(change.operations.flatMap((id) => findConsumers(programs, { id, path: paths.get(id) ?? id }))),
  }));
}

const unique = (places: readonly Location[]): Location[] => [
  ...new Map(places.map((place) => [`${place.file}:${place.line}`, place])).values(),
];

function toVersion(documents: Documents, errors: Diagnostic[]): ContractVersion {
  const sources = new Map([...documents].map(([file, text]) => [file, wrapFragment(parseSource(file, text, errors))]));
  const [root = parseSource('', '{}', [])] = ['paths', 'webhooks'].flatMap((name) =>
    [...sources.values()].filter((source) => has(source, name)),
  );
  upgradeContract(sources, root, IGNORE);
  return { sources, root };
}

/** `generate` reports what an upgrade changes. */
const IGNORE: ReportDiagnostic = Object.assign(() => undefined, { warn: () => undefined });

function listPaths({ root }: ContractVersion): readonly (readonly [id: string, path: string])[] {
  return entries(child(root, 'paths')).flatMap(([name, item]) =>
    METHODS.flatMap((method) => {
      const id = findTextField(child(item, method), 'operationId');
      return id === undefined ? [] : [[id, name] as const];
    }),
  );
}

interface SchemaTarget {
  readonly output: string;
  readonly ref: string;
  readonly previous: Version;
}

/** Compares the published schemas, which include what is derived from the documents. */
async function diffSchema(
  target: SchemaTarget,
  before: Documents,
  after: Documents,
): Promise<readonly ContractChange[]> {
  const file = `${target.output}schema.graphql`;
  const old = (await target.previous.read(file)).get(file);
  if (old === undefined) return [];
  const { deriveFullSchema, getDerivation } = await import('../site/load-schema.js');
  const { sdl } = getDerivation(deriveFullSchema(after));
  const renamed = new Map([...before].map(([name, text]) => [`${target.ref}:${name}`, text]));
  const versions = [
    { sdl: old, file: `${target.ref}:${file}`, documents: renamed },
    { sdl, file, documents: after },
  ] as const;
  return compareGraphql(...versions).map((change) => ({ ...change, consumers: [] }));
}

/** Lists a change of a document that several contracts share once. */
function merge(changes: readonly ContractChange[]): readonly ContractChange[] {
  const byKey = new Map<string, ContractChange>();
  for (const change of changes) {
    const key = JSON.stringify([change.rule, change.location, change.message]);
    const known = byKey.get(key);
    byKey.set(key, {
      ...change,
      operations: [...new Set([...(known?.operations ?? []), ...change.operations])],
      consumers: unique([...(known?.consumers ?? []), ...change.consumers]),
    });
  }
  return [...byKey.values()].sort((a, b) => ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity));
}

const ORDER: readonly Severity[] = ['breaking', 'dangerous', 'safe'];

/** At most this many operations and lines of programs are shown for a change. */
const MAX_SHOWN = 8;

function format(ref: string, changes: readonly ContractChange[], all: boolean): string {
  const shown = changes.filter(({ severity }) => all || severity !== 'safe').map(formatChange);
  const counts = ORDER.map((one) => `${changes.filter(({ severity }) => severity === one).length} ${one}`);
  return [...shown, `${counts[0]}, ${counts[1]} and ${counts[2]} changes of the contracts since ${ref}.`].join('\n');
}

function formatChange({ rule, severity, message, location, operations, consumers }: ContractChange): string {
  const lines = [`${showPlace(location)} ${severity}: ${message} [${rule}]`];
  if (operations.length > 0) lines.push(`  affects ${showSome(operations)}`);
  if (consumers.length > 0) lines.push(`  used in ${showSome(consumers.map(({ file, line }) => `${file}:${line}`))}`);
  return lines.join('\n');
}

const showPlace = ({ file, line, column }: Location): string => `${file}:${line}:${column}`;

const showSome = (texts: readonly string[]): string =>
  texts.length <= MAX_SHOWN
    ? texts.join(', ')
    : `${texts.slice(0, MAX_SHOWN).join(', ')} and ${texts.length - MAX_SHOWN} more`;

/** A program of the repository that may use a contract: its path and text. */
type Program = readonly [file: string, text: string];

/**
 * Finds the lines that use an operation: that name its path as text, or import its function from generated code.
 *
 * @param path The path of the operation in the contract, such as `/notes/{id}`.
 */
function findConsumers(programs: readonly Program[], { id, path }: { id: string; path: string }): Location[] {
  const texts = ["'", '"', '`'].map((quote) => `${quote}${path}${quote}`);
  return programs.flatMap(([file, text]) => {
    const imports = new RegExp(`import[^;]*\\b${id}\\b[^;]*/calls(?:\\.js)?['"]`).test(text);
    return text.split('\n').flatMap((line, index) => {
      const found = texts.map((one) => line.indexOf(one)).find((at) => at >= 0) ?? (imports ? findCall(line, id) : -1);
      return found < 0 ? [] : [{ file, line: index + 1, column: found + 1 }];
    });
  });
}

const findCall = (line: string, id: string): number => line.search(new RegExp(`\\b${id}(?:\\(|\\.)`));
