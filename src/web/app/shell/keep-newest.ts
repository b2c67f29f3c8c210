/**
 * Keeps values one after the other, of those given while one is being kept the
 * newest alone.
 *
 * @param keep Does not throw: the next one waits for its end.
 */
export function keepNewest<Value>(keep: (value: Value) => Promise<void>): (value: Value) => void {
  const waiting: Value[] = [];
  let isBusy = false;
  return (value) => {
    waiting[0] = value;
    if (!isBusy) void work();
  };

  async function work(): Promise<void> {
    isBusy = true;
    while (waiting.length > 0) {
      const [value] = waiting.splice(0) as [Value];
      await keep(value);
    }
    isBusy = false;
  }
}
