import { cp, rename } from 'node:fs/promises';
import path from 'node:path';
import { watch } from '../../src/generate/command.js';
import { generate } from '../../src/generate/generate.js';
import { createProject } from './temporary-project.js';

test('watch: runs immediately and after each save of a document, until it is aborted', async () => {
  const temporary = await createProject();
  const stop = new AbortController();
  const runs = new Runs();
  const watching = watch(
    temporary.project,
    async () => runs.end((await generate(temporary.project)).generated),
    stop.signal,
  );
  try {
    expect(await runs.next()).toEqual(['src/generated/fruits/', 'src/generated/trees/']);
    await temporary.write('words/notes.md', 'not a document');
    await temporary.write('words/trees.txt', 'oak\nelm\n');
    expect(await runs.next()).toEqual(['src/generated/trees/']);
    expect((await temporary.generated()).get('src/generated/trees/words.ts')).toContain('elm');
  } finally {
    stop.abort();
    await watching;
    await temporary.close();
  }
});

test('watch: follows a folder that is replaced, and one that is created later', async () => {
  const temporary = await createProject();
  const { root, targets } = temporary.project;
  const [first, ...others] = targets;
  const documents = [...(first?.documents ?? []), 'later/deep/**/*.txt'];
  const project = { ...temporary.project, targets: [{ output: first?.output ?? '', documents }, ...others] };
  const stop = new AbortController();
  const runs = new Runs();
  const watching = watch(project, async () => runs.end((await generate(project)).generated), stop.signal);
  /** Waits for a run in which something was generated, as a new folder may cause several. */
  const nextChange = async (): Promise<readonly string[]> => {
    const generated = await runs.next();
    return generated.length > 0 ? generated : nextChange();
  };
  try {
    expect(await runs.next()).toHaveLength(2);
    const words = path.join(root, 'words');
    await cp(words, path.join(root, 'copy'), { recursive: true });
    await rename(words, path.join(root, 'previous'));
    await rename(path.join(root, 'copy'), words);
    expect(await runs.next()).toEqual([]);
    await temporary.write('words/trees.txt', 'oak\nelm\n');
    expect(await nextChange()).toEqual(['src/generated/trees/']);
    await temporary.write('later/deep/below/a.txt', 'x');
    expect(await nextChange()).toEqual(['src/generated/fruits/']);
    // Editors replace the file that they save.
    for (const text of ['y', 'z']) {
      await temporary.write('later/copy', text);
      await rename(path.join(root, 'later/copy'), path.join(root, 'later/deep/below/a.txt'));
      expect(await nextChange()).toEqual(['src/generated/fruits/']);
    }
  } finally {
    stop.abort();
    await watching;
    await temporary.close();
  }
});

/** A queue of the targets that each run generated. */
class Runs {
  readonly #ended: (readonly string[])[] = [];
  #wake: () => void = () => undefined;

  end(generated: readonly string[]): void {
    this.#ended.push(generated);
    this.#wake();
  }

  async next(): Promise<readonly string[]> {
    const first = this.#ended.shift();
    if (first !== undefined) return first;
    await new Promise<void>((resolve) => (this.#wake = resolve));
    return this.next();
  }
}
