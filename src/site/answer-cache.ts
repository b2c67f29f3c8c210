import { LRUCache } from 'lru-cache';
import type { Sql } from './sql.js';

export interface AnswerCacheBounds<T> {
  readonly maxEntries: number;
  /** In the unit of `sizeOf`. */
  readonly maxSize: number;
  readonly sizeOf: (answer: T) => number;
}

/** Answers to statements, kept until a record changes. Whoever gets one shares it, and leaves it as it is. */
export class AnswerCache<T> {
  readonly #answers: LRUCache<string, { readonly answer: T }>;
  #generation = -1;

  constructor({ maxEntries, maxSize, sizeOf }: AnswerCacheBounds<T>) {
    this.#answers = new LRUCache({ max: maxEntries, maxSize, sizeCalculation: ({ answer }) => sizeOf(answer) });
  }

  /** The answer to a statement, computed when it is not known for this generation. */
  get<Answer extends T>(generation: number, { text, values }: Sql, compute: () => Answer): Answer {
    if (generation !== this.#generation) {
      this.#answers.clear();
      this.#generation = generation;
    }
    const key = values.length === 0 ? text : `${text} ${JSON.stringify(values)}`;
    const known = this.#answers.get(key);
    // A statement is asked for one kind of answer only.
    if (known) return known.answer as Answer;
    const answer = compute();
    this.#answers.set(key, { answer });
    return answer;
  }
}
