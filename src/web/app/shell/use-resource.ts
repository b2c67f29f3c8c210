import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { explain } from '../answers.js';

export interface Resource<T> {
  /** What was last loaded; it stays while it is loaded again. */
  readonly value: T | undefined;
  /** Why the last time failed. */
  readonly problem: string | undefined;
  readonly reload: () => Promise<void>;
  /** Shows what is known to be there, without asking. */
  readonly set: (value: T) => void;
}

/** Loads something when a component is first shown, and when it is told to. `load` must stay the same function. */
export function useResource<T>(load: () => Promise<T>): Resource<T> {
  const [value, set] = useState<T>();
  const [problem, setProblem] = useState<string>();
  const rounds = useRef(0);
  const reload = useCallback(async () => {
    const round = (rounds.current += 1);
    // An answer that was overtaken by a later one is of no use any more.
    const settle = (act: () => void): void => (round === rounds.current ? act() : undefined);
    try {
      const loaded = await load();
      settle(() => {
        set(() => loaded);
        setProblem(undefined);
      });
    } catch (error) {
      settle(() => setProblem(explain(error)));
    }
  }, [load]);
  useEffect(() => void reload(), [reload]);
  return { value, problem, reload, set: (next) => set(() => next) };
}
