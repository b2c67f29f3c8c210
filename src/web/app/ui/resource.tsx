import type { ComponentChildren } from 'preact';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { keepProblem, type Problem, requireData, toProblem, waitToRetry } from '../api.js';
import { ProblemText } from './form.js';
import { Icon, type IconName } from './icon.js';

interface Resource<T> {
  /** The last loaded value, also during a reload. */
  readonly value: T | undefined;
  /** The error of the last attempt. */
  readonly problem: Problem | undefined;
  readonly reload: () => Promise<void>;
  /** Replaces the value without a request. */
  readonly set: (value: T) => void;
}

interface Failure {
  readonly problem: Problem;
  /** The number of failures in a row. */
  readonly count: number;
}

/**
 * Loads a value when a component is first drawn and whenever `load` changes, so `load` must be memoised. After a failure
 * that ends without the user, it loads again automatically.
 */
export function useResource<T>(load: () => Promise<T>): Resource<T> {
  const [value, set] = useState<T>();
  const [failure, setFailure] = useState<Failure>();
  const attempts = useRef(0);
  const reload = useCallback(async () => {
    const attempt = (attempts.current += 1);
    // Ignores the result if a later attempt has started.
    const settle = (act: () => void): void => (attempt === attempts.current ? act() : undefined);
    try {
      const loaded = await load();
      settle(() => {
        set(() => loaded);
        setFailure(undefined);
      });
    } catch (error) {
      const problem = toProblem(error);
      settle(() =>
        setFailure((before) => ({ problem: keepProblem(before?.problem, problem), count: (before?.count ?? 0) + 1 })),
      );
    }
  }, [load]);
  useEffect(() => void reload(), [reload]);
  useEffect(() => {
    if (failure?.problem.isTemporary !== true) return;
    const left = new AbortController();
    void waitToRetry(failure.count, left.signal).then(() => (left.signal.aborted ? undefined : reload()));
    return () => left.abort();
  }, [failure, reload]);
  return { value, problem: failure?.problem, reload, set: (next) => set(() => next) };
}

/**
 * Returns the body of the response to a change of an entry of a list. If others have removed or changed the entry, the list
 * is loaded again.
 *
 * @throws ApiError for an error response.
 */
export async function changeEntry<Data>(
  reload: () => Promise<void>,
  change: Promise<Parameters<typeof requireData<Data>>[0]>,
): Promise<Data> {
  const result = await change;
  if (OVERTAKEN.has(result.response.status)) await reload();
  return requireData(result);
}

/** The statuses for a missing entry, and for one whose state does not allow the change. */
const OVERTAKEN: ReadonlySet<number> = new Set([404, 409, 412]);

/** Reloads when the tab becomes visible again, as others may have changed the value in the meantime. */
export function useReloadOnReturn(reload: () => Promise<void>): void {
  useEffect(() => {
    const onReturn = (): void => void (document.visibilityState === 'visible' && reload());
    document.addEventListener('visibilitychange', onReturn);
    return () => document.removeEventListener('visibilitychange', onReturn);
  }, [reload]);
}

interface LoadedProps<T> {
  readonly from: Pick<Resource<T>, 'problem' | 'reload' | 'value'>;
  readonly children: (value: T) => ComponentChildren;
}

/**
 * Draws a loaded resource, a loading message, or the error, with a button if a retry may help. If a reload fails, the error
 * is above the previous value.
 */
export function AsyncContent<T>({ from, children }: LoadedProps<T>) {
  const { value, problem, reload } = from;
  if (value === undefined && problem === undefined) return <p class="quiet">Loading …</p>;
  return (
    <>
      {problem !== undefined && (
        <p class="problem" role="alert">
          <ProblemText problem={problem} />{' '}
          {problem.canRetry && (
            <button type="button" onClick={() => void reload()}>
              Try again
            </button>
          )}
        </p>
      )}
      {value !== undefined && children(value)}
    </>
  );
}

interface EmptyStateProps {
  readonly icon: IconName;
  /** Why there is nothing to show. */
  readonly text: ComponentChildren;
  /** A link or a button that leads on. */
  readonly next?: ComponentChildren;
}

/** Takes the place of an empty list. */
export function EmptyState({ icon, text, next }: EmptyStateProps) {
  return (
    <div class="empty">
      <Icon name={icon} />
      <p>{text}</p>
      {next && <p class="row wrapping">{next}</p>}
    </div>
  );
}
