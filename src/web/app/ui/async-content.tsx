import type { ComponentChildren } from 'preact';
import type { Resource } from './use-resource.js';

interface LoadedProps<T> {
  readonly from: Pick<Resource<T>, 'problem' | 'reload' | 'value'>;
  readonly children: (value: T) => ComponentChildren;
}

/** Draws a loaded resource, a loading message, or the error with a button to try again. */
export function AsyncContent<T>({ from, children }: LoadedProps<T>) {
  const { value, problem, reload } = from;
  if (value !== undefined) return <>{children(value)}</>;
  if (problem === undefined) return <p class="quiet">Loading …</p>;
  return (
    <p class="problem" role="alert">
      {problem}{' '}
      <button type="button" onClick={() => void reload()}>
        Try again
      </button>
    </p>
  );
}
