import { useLayoutEffect, useId, useRef } from 'preact/hooks';
import { CopyButton } from './copy-button.js';

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
