import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '@trellis/core/errors';
import { type BudgetLimits, OperationBudget, readCpuMs } from '../../src/graphql/budget.js';

const SETTINGS = { values: 'MAX_VALUES', workMs: 'MAX_WORK_MS', timeoutMs: 'MAX_TIME_MS' };

const budgetOf = (limits: Partial<BudgetLimits>) =>
  new OperationBudget({ values: 1e6, workMs: 10_000, timeoutMs: 10_000, settings: SETTINGS, ...limits });

/** Uses an amount of processor time, which may take longer on a busy machine. */
function keepBusy(milliseconds: number): void {
  const start = readCpuMs();
  while (readCpuMs() - start < milliseconds);
}

describe('OperationBudget', () => {
  test('allows values up to its limit', () => {
    const budget = budgetOf({ values: 100 });
    budget.spend(60);
    budget.spend(40);
    expect(budget.isOver).toBe(false);
    expect(() => budget.spend(1)).toThrow('The response has more than 100 values at this field.');
    expect(budget.refusal).toMatchObject({ code: 'too_large' });
  });

  test('throws the first error again after a limit was exceeded', () => {
    const budget = budgetOf({ values: 100 });
    expect(() => budget.spend(101)).toThrow(AppError);
    const first = budget.refusal;
    expect(() => budget.work(() => 1)).toThrow(first);
    expect(() => budget.check()).toThrow(first);
  });

  test('adds up the time of pieces of work, without the time between them', async () => {
    const budget = budgetOf({ workMs: 60 });
    expect(budget.work(() => 'done')).toBe('done');
    await sleep(100);
    expect(budget.work(() => 'more')).toBe('more');
    // The last one is rejected; on a busy machine perhaps an earlier one.
    const pieces = (): void => [40, 40, 0].forEach((milliseconds) => budget.work(() => keepBusy(milliseconds)));
    expect(pieces).toThrow('The query exceeded its work limit of 60 ms of processor time.');
    expect(budget.refusal).toMatchObject({ code: 'unavailable' });
  });

  test('does not count the time in which the processor runs other processes', () => {
    const budget = budgetOf({ workMs: 60 });
    const pause = new Int32Array(new SharedArrayBuffer(4));
    budget.work(() => Atomics.wait(pause, 0, 0, 150));
    expect(budget.work(() => 'more')).toBe('more');
  });

  test('names the setting that raises the limit of work', () => {
    const budget = budgetOf({ workMs: 20 });
    budget.work(() => keepBusy(40));
    expect(() => budget.check()).toThrow('MAX_WORK_MS raises the limit.');
  });

  test('stops a piece of work that checks the budget', () => {
    const budget = budgetOf({ workMs: 20 });
    const endless = (): void => {
      for (;;) budget.check();
    };
    expect(() => budget.work(endless)).toThrow(AppError);
  });

  test('counts the values of a response as work too', () => {
    const budget = budgetOf({ workMs: 50 });
    budget.spend(60_000);
    expect(() => budget.check()).toThrow('50 ms of processor time');
  });

  test('lets other operations run between pieces after much work', async () => {
    const budget = budgetOf({});
    const order: string[] = [];
    expect(budget.workInTurn(() => keepBusy(60))).toBeUndefined();
    const pieces = ['first', 'second'].map((name) => budget.workInTurn(() => order.push(name)));
    setImmediate(() => order.push('other'));
    expect(order).toEqual([]);
    for (const piece of pieces) await piece;
    expect(order).toEqual(['other', 'first', 'second']);
  });

  test('ends an operation that exceeds its time limit', async () => {
    const budget = budgetOf({ timeoutMs: 20 });
    await expect(budget.untilTimeout(sleep(500))).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(
        /^The query exceeded its time limit of 20 ms, .* MAX_TIME_MS raises the limit\.$/,
      ) as string,
    });
    expect(() => budget.check()).toThrow('time limit of 20 ms');
  });

  test.each([
    ['long texts', Array.from({ length: 100 }, () => 'x'.repeat(20_000))],
    ['long names', Array.from({ length: 100 }, () => ({ ['x'.repeat(20_000)]: 1 }))],
    ['long texts in records', { nodes: [{ id: 'x'.repeat(2_000_000) }] }],
  ])('rejects a response of many values with %s', (_what, answer) => {
    const budget = budgetOf({ values: 20_000 });
    budget.spend(15_000);
    expect(() => budget.assertResponseLength(answer)).toThrow('The response has more than 1280000 characters.');
    expect(() => budget.assertResponseLength(['short'])).not.toThrow();
  });
});
