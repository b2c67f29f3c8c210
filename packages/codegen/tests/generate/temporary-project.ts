import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { CodegenConfig } from '@graphql-codegen/cli';
import { ContractError, type Diagnostic } from '../../src/documents.js';
import { openProject, type Project, readGenerated } from '../../src/generate/generate.js';
import { type GeneratorOutput, toOutputs } from '../../src/output.js';

/** A temporary project whose contracts have one word per line, and whose targets generate a constant for each word. */
export interface TemporaryProject {
  project: Project;
  /** Names of the targets whose generator was loaded, in order. */
  loaded: string[];
  write(file: string, text: string): Promise<void>;
  /** Path from the root → text, of every file below `src/generated`. */
  generated(): Promise<Map<string, string>>;
  /** Opens the project again, as a new process does. */
  reopen(): Promise<Project>;
  close(): Promise<void>;
}

export async function createProject(): Promise<TemporaryProject> {
  const root = await mkdtemp(path.join(os.tmpdir(), 'trellis-generate-'));
  const loaded: string[] = [];
  const outputs = ['fruits', 'trees'].map((name) => [`src/generated/${name}/`, wordOutput(root, name, loaded)]);
  const config = { generates: Object.fromEntries(outputs) as CodegenConfig['generates'] };
  const write = async (file: string, text: string) => {
    await mkdir(path.dirname(path.join(root, file)), { recursive: true });
    await writeFile(path.join(root, file), text);
  };
  await write('words/fruits.txt', 'apple\npear\n');
  await write('words/trees.txt', 'oak\n');
  const open = () => openProject(root, config, path.join(root, 'generators'));
  return {
    project: await open(),
    loaded,
    write,
    generated: () => readGenerated(root),
    reopen: open,
    close: () => rm(root, { recursive: true, force: true }),
  };
}

const wordOutput = (root: string, name: string, loaded: string[]): CodegenConfig['generates'][string] => {
  const file = `words/${name}.txt`;
  return {
    schema: [],
    watchPattern: file,
    preset: {
      buildGeneratesSection: async (options) => {
        loaded.push(name);
        return toOutputs(options, generateWords(file, await readFile(path.join(root, file), 'utf8')));
      },
    },
  };
};

function generateWords(file: string, text: string): GeneratorOutput {
  const lines = text.trimEnd().split('\n');
  const words = lines.map((word, index) => ({ word, file, line: index + 1, column: 1 }));
  const diagnostics = words.flatMap(({ word, ...place }): Diagnostic[] =>
    /^[a-z]+$/u.test(word) ? [] : [{ ...place, message: `Expected a word; received "${word}".` }],
  );
  if (diagnostics.length > 0) throw new ContractError(diagnostics);
  const constants = words.map(({ word }) => `export const ${word} = '${word}';`);
  return {
    files: new Map([
      ['words.ts', ['// Do not edit.', ...constants, ''].join('\n')],
      ['count.ts', `export const count = ${words.length};\n`],
    ]),
    warnings: words.flatMap(({ word, ...place }) => (word === 'weed' ? [{ ...place, message: 'A weed.' }] : [])),
    origins: () => new Map(words.map(({ word, ...place }) => [word, place])),
    stubs: [
      {
        file: `src/${words[0]?.word ?? ''}.ts`,
        header: 'export const words = {',
        footer: '};',
        exportName: 'words',
        members: [],
      },
    ],
  };
}
