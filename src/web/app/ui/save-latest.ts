/**
 * Returns a function that saves values one at a time. A value that is passed during a save replaces any waiting one.
 *
 * @param save must not reject, as later values would not be saved
 */
export function saveLatest<Value>(save: (value: Value) => Promise<void>): (value: Value) => void {
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
      await save(value);
    }
    isBusy = false;
  }
}
