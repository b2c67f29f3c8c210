import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parse, stringify } from 'yaml';
import { build } from './child.js';
import { alternate, median } from './rounds.js';
import { toTable } from './table.js';

export interface GenerateBenchOptions {
  readonly rounds: number;
  /** How many times as many operations, schemas and record types the large project has. */
  readonly copies: number;
}

const ROOT = path.join(import.meta.dirname, '..');
const SERVICES = ['dashboard', 'secrets'];

/**
 * Measures `trellis generate` with the contracts of this repository and with a multiple of them, beside GraphQL Code
 * Generator and openapi-typescript, which generate only types, from the same documents.
 */
export async function benchGenerate({ rounds, copies }: GenerateBenchOptions): Promise<string> {
  build();
  const tables: string[] = [];
  for (const count of [1, copies]) {
    const project = createProject(count);
    try {
      tables.push(report(count, await measure(project, rounds)));
    } finally {
      rmSync(project, { recursive: true, force: true });
    }
  }
  return tables.join('\n\n');
}

const PLAIN = {
  schema: 'src/generated/site/schema.graphql',
  generates: { 'plain/schema.ts': { plugins: ['typescript', 'typescript-resolvers'] } },
};

const TARGETS = `import { createCodegenConfig } from '@trellis/codegen/targets';
const services = Object.fromEntries(${JSON.stringify(SERVICES)}.map((name) => [name, { documents: ['openapi/common.yaml'] }]));
export default createCodegenConfig({ services, site: {} });
`;

/** Creates a project below this repository, so that it finds the packages. */
function createProject(count: number): string {
  const folder = path.join(ROOT, '.cache', `bench-generate-${process.pid}-${count}`);
  mkdirSync(path.join(folder, 'openapi'), { recursive: true });
  cpSync(path.join(ROOT, 'schema'), path.join(folder, 'schema'), { recursive: true });
  cpSync(path.join(ROOT, 'openapi/common.yaml'), path.join(folder, 'openapi/common.yaml'));
  writeFileSync(path.join(folder, 'codegen.ts'), TARGETS);
  writeFileSync(path.join(folder, 'plain.json'), JSON.stringify(PLAIN));
  const apis = Object.fromEntries(
    SERVICES.map((name) => [name, { root: `openapi/${name}.yaml`, 'x-openapi-ts': { output: `plain/${name}.ts` } }]),
  );
  writeFileSync(path.join(folder, 'redocly.yaml'), stringify({ apis }));
  for (const name of SERVICES) {
    const contract = parse(readFileSync(path.join(ROOT, `openapi/${name}.yaml`), 'utf8')) as Contract;
    writeFileSync(path.join(folder, `openapi/${name}.yaml`), stringify(multiply(contract, count)));
  }
  for (const name of readdirSync(path.join(folder, 'schema')).filter((file) => /^(?:file|image|site)\./.test(file))) {
    const file = path.join(folder, 'schema', name);
    const text = readFileSync(file, 'utf8');
    for (let copy = 1; copy < count; copy += 1)
      writeFileSync(`${file.slice(0, -8)}-${copy}.graphql`, renameTypes(text, copy));
  }
  return folder;
}

type Components = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

interface Contract {
  readonly paths: Readonly<Record<string, object>>;
  readonly components: Components;
}

/** Adds copies of the operations and components of a contract, with names of their own. */
function multiply(contract: Contract, count: number): Contract {
  const paths = { ...contract.paths };
  const { securitySchemes = {}, ...sections } = contract.components;
  const copied = Object.fromEntries(Object.entries(sections).map(([name, members]) => [name, { ...members }]));
  for (let copy = 1; copy < count; copy += 1) {
    const rename = <T>(part: T): T =>
      JSON.parse(
        JSON.stringify(part)
          .replace(/"(#\/components\/\w+\/\w+)"/g, `"$1Copy${copy}"`)
          .replace(/"operationId":"(\w+)"/g, `"operationId":"$1Copy${copy}"`),
      ) as T;
    for (const [name, item] of Object.entries(contract.paths)) paths[`/copy-${copy}${name}`] = rename(item);
    for (const [section, members] of Object.entries(sections)) {
      for (const [name, member] of Object.entries(members))
        Object.assign(copied[section] ?? {}, { [`${name}Copy${copy}`]: rename(member) });
    }
  }
  return { ...contract, paths, components: { securitySchemes, ...copied } };
}

/** Renames the types that a document declares, where they are declared and used. */
function renameTypes(text: string, copy: number): string {
  const names = [...text.matchAll(/^(?:enum|input|type) (\w+)/gm)].map(([, name]) => name ?? '');
  return text.replace(new RegExp(`\\b(?:${names.join('|')})\\b`, 'g'), (name) => `${name}Copy${copy}`);
}

const TASKS = {
  'graphql-codegen': ['node_modules/@graphql-codegen/cli/esm/bin.js', '--config', 'plain.json'],
  'openapi-typescript': ['node_modules/openapi-typescript/bin/cli.js'],
  'generate, everything': ['dist/cli.js', 'generate'],
  'generate, unchanged': ['dist/cli.js', 'generate'],
} as const;

type Task = keyof typeof TASKS;

interface Measured {
  readonly milliseconds: number;
  readonly cpuMilliseconds: number;
}

const CPU_TIME = path.join(import.meta.dirname, 'process-cpu-child.js');

async function measure(project: string, rounds: number): Promise<Record<Task, Measured[]>> {
  const cpuFile = path.join(project, 'cpu');
  const run = async (task: Task): Promise<Measured> => {
    const [script, ...args] = TASKS[task];
    const startedAt = performance.now();
    execFileSync(process.execPath, ['--import', CPU_TIME, path.join(ROOT, script), ...args], {
      cwd: project,
      env: { ...process.env, CPU_FILE: cpuFile },
      stdio: 'pipe',
    });
    const milliseconds = performance.now() - startedAt;
    return { milliseconds, cpuMilliseconds: Number(readFileSync(cpuFile, 'utf8')) };
  };
  // Writes the schema that the server executes, which is the input of graphql-codegen.
  await run('generate, everything');
  return alternate<Measured, Task>(rounds, {
    'graphql-codegen': () => run('graphql-codegen'),
    'openapi-typescript': () => run('openapi-typescript'),
    'generate, everything': () => {
      rmSync(path.join(project, '.cache'), { recursive: true });
      return run('generate, everything');
    },
    'generate, unchanged': () => run('generate, unchanged'),
  });
}

function report(count: number, results: Record<Task, Measured[]>): string {
  const of = (task: Task, field: keyof Measured): number => median(results[task].map((one) => one[field]));
  const ofBoth = (task: Task, field: keyof Measured): string =>
    (of(task, field) / (of('graphql-codegen', field) + of('openapi-typescript', field))).toFixed(2);
  const rows = (Object.keys(TASKS) as Task[]).map((task) => [
    task,
    of(task, 'milliseconds').toFixed(0),
    of(task, 'cpuMilliseconds').toFixed(0),
    ...(task.startsWith('generate') ? [ofBoth(task, 'milliseconds'), ofBoth(task, 'cpuMilliseconds')] : []),
  ]);
  const title = count === 1 ? 'contracts of this repository' : `${count} times these contracts`;
  return toTable([title, 'ms', 'CPU ms', 'of both', 'of both, CPU'], rows);
}
