import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { readFolder } from '../../src/codegen/files.js';
import { openProject } from '../../src/codegen/project.js';
import type { Project } from '../../src/codegen/project.js';
import { ContractError } from '../../src/codegen/target.js';
import type { Generate, Mistake, Target } from '../../src/codegen/target.js';

/** A folder with contracts of one word a line, and targets that turn each word into a constant. */
export interface TemporaryProject {
  project: Project;
  /** Names of the targets whose generator was loaded, in order. */
  loaded: string[];
  write(file: string, text: string): Promise<void>;
  /** Everything below `src/generated`. */
  generated(): Promise<Map<string, string>>;
  /** Opens the project again, as the next process does. */
  reopen(): Promise<Project>;
  close(): Promise<void>;
}

export async function createProject(): Promise<TemporaryProject> {
  const root = await mkdtemp(path.join(os.tmpdir(), 'trellis-generate-'));
  const loaded: string[] = [];
  const targets = ['fruits', 'trees'].map((name) => wordTarget(name, loaded));
  const write = async (file: string, text: string) => {
    await mkdir(path.dirname(path.join(root, file)), { recursive: true });
    await writeFile(path.join(root, file), text);
  };
  await write('words/fruits.txt', 'apple\npear\n');
  await write('words/trees.txt', 'oak\n');
  const project = await openProject(root, targets);
  return {
    project,
    loaded,
    write,
    generated: () => readFolder(project.folder),
    reopen: () => openProject(root, targets),
    close: () => rm(root, { recursive: true, force: true }),
  };
}

function wordTarget(name: string, loaded: string[]): Target {
  return {
    name,
    documents: [`words/${name}.txt`],
    load: async () => {
      loaded.push(name);
      return (documents) => generateWords(name, documents);
    },
  };
}

const generateWords = async (name: string, documents: Parameters<Generate>[0]) => {
  const words = [...documents].flatMap(([file, text]) =>
    text
      .trimEnd()
      .split('\n')
      .map((word, index) => ({ word, file, line: index + 1, column: 1 })),
  );
  const mistakes = words.flatMap(({ word, ...place }): Mistake[] =>
    /^[a-z]+$/u.test(word) ? [] : [{ ...place, message: `Expected a word; received "${word}".` }],
  );
  if (mistakes.length > 0) throw new ContractError(mistakes);
  return {
    files: new Map([
      [
        `${name}/words.ts`,
        ['// Do not edit.', ...words.map(({ word }) => `export const ${word} = '${word}';`), ''].join('\n'),
      ],
      [`${name}/count.ts`, `export const count = ${words.length};\n`],
    ]),
    origins: new Map(words.map(({ word, ...place }) => [word, place])),
    stubs: [],
  };
};
