import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { describeProblem, type Problem, toProblem } from '../api.js';
import { CopyButton, useAction, useFocusHandover } from './buttons.js';

interface FormProps {
  readonly onSave: () => Promise<void>;
  /** The label of the submit button. */
  readonly verb: string;
  /** Further buttons beside it. */
  readonly beside?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** Fields and a submit button. The browser reports missing or invalid values. */
export function Form({ onSave, verb, beside, children }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const [isBusy, save] = useAction(onSave);
  useFocusHandover(form);
  return (
    <form
      ref={form}
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      {children}
      <div class="acts">
        <button type="submit" class="main" aria-busy={isBusy}>
          {verb}
        </button>
        {beside}
      </div>
    </form>
  );
}

/** Returns an update that clears a field whose text was sent, unless the user has continued to type meanwhile. */
export const clearSent =
  (sent: string) =>
  (now: string): string =>
    now === sent ? '' : now;

/** The error of a form, shown beside it. */
export function FormError({ problem }: { readonly problem: Problem | undefined }) {
  // Screen readers announce only changes of a region that already exists.
  return (
    <div role="alert" class="problem">
      {problem !== undefined && (
        <p>
          <ProblemText problem={problem} />
        </p>
      )}
    </div>
  );
}

/** Returns the error of the last run, and a function that runs `work`, clears the error and never rejects. */
export function useFormError<Args extends readonly unknown[]>(
  work: (...args: Args) => Promise<void>,
  convert: (error: unknown) => Problem = toProblem,
): readonly [Problem | undefined, (...args: Args) => Promise<void>] {
  const [problem, setProblem] = useState<Problem>();
  const run = async (...args: Args): Promise<void> => {
    setProblem(undefined);
    await work(...args).catch((error: unknown) => setProblem(convert(error)));
  };
  return [problem, run];
}

/** An error message, with a button that copies the id of the request for a report to the admin. */
export function ProblemText({ problem }: { readonly problem: Problem }) {
  const { requestId } = problem;
  return (
    <>
      {describeProblem(problem)}
      {requestId !== undefined && (
        <>
          {' '}
          <CopyButton value={requestId} what="the request ID" />
        </>
      )}
    </>
  );
}

interface FieldProps {
  readonly label: string;
  readonly hint?: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly type?: 'number' | 'search' | 'text' | 'url';
  readonly required?: boolean;
  readonly readOnly?: boolean;
  readonly maxLength?: number;
  readonly min?: number;
  readonly max?: number;
  readonly pattern?: string;
  readonly placeholder?: string;
  readonly autoComplete?: string;
  readonly autoCapitalize?: 'none';
  readonly spellcheck?: boolean;
}

/**
 * A text input with a label and an optional hint. Browsers would fill in the name of the user in fields called “Name”, so they do
 * only with `autoComplete`.
 */
export function Field({ label, hint, value, onValue, type = 'text', autoComplete = 'off', ...attributes }: FieldProps) {
  const id = useId();
  const hinted = hint === undefined ? {} : { 'aria-describedby': `${id}-hint` };
  // Preact's types distinguish inputs by type, but all types used here have the same attributes.
  const kind = { type } as { type: 'text' };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        {...attributes}
        {...hinted}
        {...kind}
        id={id}
        dir="auto"
        autoComplete={autoComplete}
        value={value}
        onInput={({ currentTarget }) => onValue(currentTarget.value)}
      />
      {hint !== undefined && (
        <p class="quiet" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

interface UsernameFieldProps {
  readonly value: string;
  readonly onValue: (value: string) => void;
}

/** A field for a different user's name, which browsers must not autocomplete or correct. */
export const UsernameField = (props: UsernameFieldProps) => (
  <Field label="Username" required maxLength={64} autoCapitalize="none" spellcheck={false} {...props} />
);

interface HiddenFieldProps {
  readonly label: string;
  readonly hint?: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly maxLength: number;
  readonly required?: boolean;
}

/**
 * A text input for a secret, masked unless the user shows it. It is no password field: browsers would offer to store the secret,
 * and fill it into every such field of the server, whatever its `autocomplete`.
 */
export function HiddenField({ label, hint, value, onValue, maxLength, required }: HiddenFieldProps) {
  const id = useId();
  const [isShown, setShown] = useState(false);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <div class="row">
        <input
          id={id}
          class={isShown ? '' : 'hidden-text'}
          aria-describedby={hint === undefined ? undefined : `${id}-hint`}
          maxLength={maxLength}
          required={required}
          autoComplete="off"
          autoCapitalize="none"
          spellcheck={false}
          value={value}
          onInput={({ currentTarget }) => onValue(currentTarget.value)}
        />
        <button type="button" aria-pressed={isShown} onClick={() => setShown(!isShown)}>
          Show <span class="aside">typed text</span>
        </button>
      </div>
      {hint !== undefined && (
        <p class="quiet" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

interface SelectProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  /** Pairs of value and label. */
  readonly options: readonly (readonly [Value, string])[];
  readonly onValue: (value: Value) => void;
}

/** A select with its label above. */
export function Select<Value extends string>({ label, value, options, onValue }: SelectProps<Value>) {
  return (
    <label>
      {label}
      <select
        value={value}
        onChange={({ currentTarget }) => {
          const chosen = options[currentTarget.selectedIndex];
          if (chosen) onValue(chosen[0]);
        }}
      >
        {options.map(([option, name]) => (
          <option key={option} value={option}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

interface RadiosProps<Value extends string> {
  readonly legend: string;
  readonly value: Value;
  /** Pairs of value and label. */
  readonly options: readonly (readonly [Value, string])[];
  readonly onValue: (value: Value) => void;
}

/** A group of radio buttons. */
export function Radios<Value extends string>({ legend, value, options, onValue }: RadiosProps<Value>) {
  const name = useId();
  return (
    <fieldset class="radios">
      <legend>{legend}</legend>
      {options.map(([option, title]) => (
        <label key={option} class="choice">
          <input type="radio" name={name} checked={value === option} onChange={() => onValue(option)} />
          {title}
        </label>
      ))}
    </fieldset>
  );
}

interface ShownOnceProps {
  readonly label: string;
  readonly value: string;
}

/** A secret that the server shows only once, selected for copying. */
export function OneTimeSecret({ label, value }: ShownOnceProps) {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => field.current?.select(), [value]);
  return (
    <div class="once">
      <label for={id}>{label}</label>
      <div class="row">
        <input id={id} ref={field} readOnly value={value} spellcheck={false} autoComplete="off" />
        <CopyButton value={value} />
      </div>
    </div>
  );
}
