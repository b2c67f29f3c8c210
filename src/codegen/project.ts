import path from 'node:path';
import { digestGenerators } from './cache.js';
import type { Target } from './target.js';

/** A repository whose `src/generated` is made from its contract documents. */
export interface Project {
  root: string;
  /** The folder that holds generated files and nothing else. */
  folder: string;
  targets: readonly Target[];
  /**
   * Digest of the generating code. It is taken once, since code that changes
   * later is not the code that this process has loaded.
   */
  generators: string;
}

/** Opens the repository at `root` for generation. */
export async function openProject(root: string, targets: readonly Target[]): Promise<Project> {
  return { root, folder: path.join(root, 'src/generated'), targets, generators: await digestGenerators(root) };
}
