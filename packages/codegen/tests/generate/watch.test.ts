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
