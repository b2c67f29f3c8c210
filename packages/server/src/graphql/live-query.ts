/** Queries with the directive `@live`, which send a new result when a change of the data has altered it. */
import { setTimeout as delay } from 'node:timers/promises';
import { type ConcurrencyLimit, limitConcurrency } from '@trellis/core/concurrency';
import {
  type ExecutionResult,
  getDirectiveValues,
  getVariableValues,
  type GraphQLSchema,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql';
import type { GraphqlRequest } from './request.js';

/** Returns whether an operation is a live query. One whose variables are invalid is not, so that it fails once. */
export function isLive(
  operation: OperationDefinitionNode,
  schema: GraphQLSchema,
  variables: GraphqlRequest['variables'] = {},
): boolean {
  const directive = schema.getDirective('live');
  if (!directive || operation.operation !== OperationTypeNode.QUERY || !operation.directives?.length) return false;
  const { coerced } = getVariableValues(schema, operation.variableDefinitions ?? [], variables);
  return coerced !== undefined && getDirectiveValues(directive, operation, coerced)?.if === true;
}

/** Queries that run at the same time after a change. Others have requests of their own to wait for. */
const MAX_RUNNING = 4;

/** The longest pause of a place after its query. */
const MAX_PAUSE_MS = 1000;

/** Repeats queries after changes. */
export class LiveQueries {
  readonly #places: ConcurrencyLimit = limitConcurrency(MAX_RUNNING);

  /** Returns the results of a query: the first at once, and one after each change of the data that it reads. */
  follow(query: LiveQuery): AsyncIterableIterator<ExecutionResult> {
    return new LiveResults(query, (run) => this.#runInTurn(run));
  }

  /** A place rests as long as its query took, so that requests have about half of the time during many changes. */
  #runInTurn<T>(run: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      void this.#places(async () => {
        const startedAt = performance.now();
        await run().then(resolve, reject);
        await delay(Math.min(MAX_PAUSE_MS, performance.now() - startedAt), undefined, { ref: false });
      });
    });
  }
}

export interface LiveQuery {
  readonly run: () => Promise<ExecutionResult>;
  /** Returns a text that changes with the data that the query reads. */
  readonly getVersion: () => string;
  /** Changes of the data, the first one at once. Changes that were not read yet are merged. */
  readonly changes: AsyncIterableIterator<unknown>;
}

type RunInTurn = <T>(run: () => Promise<T>) => Promise<T>;

/** A generator would not end before its next value. */
class LiveResults implements AsyncIterableIterator<ExecutionResult> {
  readonly #query: LiveQuery;
  readonly #runInTurn: RunInTurn;
  #version: string | undefined;
  #isOver = false;

  constructor(query: LiveQuery, runInTurn: RunInTurn) {
    this.#query = query;
    this.#runInTurn = runInTurn;
  }

  async next(): Promise<IteratorResult<ExecutionResult, undefined>> {
    const { changes, getVersion } = this.#query;
    for (;;) {
      const { done } = await changes.next();
      if (done === true || this.#isOver) return OVER;
      if (getVersion() === this.#version) continue;
      const value = this.#version === undefined ? await this.#run() : await this.#runInTurn(() => this.#run());
      if (value) return { done: false, value };
    }
  }

  /** Returns the result for the current data, of which no later change is missed. */
  async #run(): Promise<ExecutionResult | undefined> {
    if (this.#isOver) return undefined;
    this.#version = this.#query.getVersion();
    return this.#query.run();
  }

  async return(): Promise<IteratorResult<ExecutionResult, undefined>> {
    this.#isOver = true;
    await this.#query.changes.return?.();
    return OVER;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

const OVER = { done: true, value: undefined } as const;
