import path from 'node:path';
import type { CodegenConfig } from '@graphql-codegen/cli';
import { digestGenerators } from './cache.js';
import { readFolder } from './files.js';

/** The folder that contains only generated files. */
const GENERATED = 'src/generated';

/** A repository whose `src/generated` is generated from contract documents. */
export interface Project {
  root: string;
  /** The default export of `codegen.ts`. */
  config: CodegenConfig;
  targets: readonly CodegenTarget[];
  /** Digest of the generating code. Computed once, as the process does not reload code that changes later. */
  generators: string;
}

/** An entry of `generates` in `codegen.ts`. */
export interface CodegenTarget {
  /** The key of the entry: a file, or a folder with a trailing slash. */
  output: string;
  /** Paths or patterns of its documents, from the root. A `*` in the file name matches any characters. */
  documents: readonly string[];
}

/** Opens the repository at `root` for generation. @throws Error when an output is outside `src/generated`. */
export async function openProject(root: string, config: CodegenConfig): Promise<Project> {
  const targets = Object.keys(config.generates).map((output) => toTarget(config, output));
  return { root, config, targets, generators: await digestGenerators(root) };
}

function toTarget(config: CodegenConfig, output: string): CodegenTarget {
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
