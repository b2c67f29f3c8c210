import path from 'node:path';
import type { CodegenConfig } from '@graphql-codegen/cli';
import { digestGenerators } from './cache.js';
import { readFolder } from './files.js';

/** The folder that holds generated files and nothing else. */
const GENERATED = 'src/generated';

/** A repository whose `src/generated` is made from its contract documents. */
export interface Project {
  root: string;
  /** The default export of `codegen.ts`. */
  config: CodegenConfig;
  targets: readonly Target[];
  /**
   * Digest of the generating code. It is taken once, since code that changes
   * later is not the code that this process has loaded.
   */
  generators: string;
}

/** An entry of `generates` in `codegen.ts`. */
export interface Target {
  /** Its key: a file, or the folder of its files with a trailing slash. */
  output: string;
  /** The documents that it reads, as paths from the root; a `*` in the file name stands for any characters. */
  documents: readonly string[];
}

/** Opens the repository at `root` for generation. @throws Error when an output is outside `src/generated`. */
export async function openProject(root: string, config: CodegenConfig): Promise<Project> {
  const targets = Object.keys(config.generates).map((output) => toTarget(config, output));
  return { root, config, targets, generators: await digestGenerators(root) };
}

function toTarget(config: CodegenConfig, output: string): Target {
  if (!output.startsWith(`${GENERATED}/`))
    throw new Error(`Expected an output below ${GENERATED}; received ${output}.`);
  const settings = config.generates[output] ?? [];
  const { schema, documents, watchPattern } = Array.isArray(settings) ? {} : settings;
  const pointers = [config.schema, schema, config.documents, documents, watchPattern].flatMap(listOf);
  return {
    output,
    documents: pointers.flatMap((pointer) => (typeof pointer === 'string' ? pointer : Object.keys(pointer))),
  };
}

const listOf = <T>(value: T | T[] | undefined): T[] =>
  value === undefined ? [] : Array.isArray(value) ? value : [value];

/** Reads every file below `src/generated`: path from the root → text. */
export async function readGenerated(root: string): Promise<Map<string, string>> {
  const files = await readFolder(path.join(root, GENERATED));
  return new Map([...files].map(([name, text]) => [`${GENERATED}/${name}`, text]));
}
