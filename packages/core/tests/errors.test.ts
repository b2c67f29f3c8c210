import { AppError, defineErrors, ERROR_STATUS } from '../src/errors.js';

type Code = 'not_found' | 'note_locked';

describe('AppError', () => {
  test('has the status of a common code', () => {
    for (const [code, status] of Object.entries(ERROR_STATUS)) {
      expect(new AppError(code as keyof typeof ERROR_STATUS, 'Sentence.')).toMatchObject({ code, status });
    }
  });

  test('requires a status for other codes', () => {
    // @ts-expect-error The code is not a common one.
    expect(() => new AppError('note_locked', 'The note is locked.')).not.toThrow();
    expect(new AppError('note_locked', 'The note is locked.', { status: 423 })).toMatchObject({ status: 423 });
  });
});

describe('defineErrors', () => {
  test('creates errors with own and common codes', () => {
    const noteError = defineErrors<Code>({ note_locked: 423 });
    expect(noteError('note_locked', 'The note is locked.', { field: 'text' })).toMatchObject({
      name: 'AppError',
      code: 'note_locked',
      status: 423,
      field: 'text',
      message: 'The note is locked.',
    });
    expect(noteError('not_found', 'No such note.')).toMatchObject({ code: 'not_found', status: 404 });
  });

  test('requires the status of every own code, and accepts no others', () => {
    // @ts-expect-error The status is missing.
    expect(defineErrors<Code>({})).toBeInstanceOf(Function);
    // @ts-expect-error The contract has no such code.
    expect(defineErrors<Code>({ note_locked: 423, other: 400 })).toBeInstanceOf(Function);
  });
});
