import { useLayoutEffect, useRef } from 'preact/hooks';
import { createCountDown, pendingConfirmation } from './confirmation.js';
import { ProblemText } from './form.js';
import { type Toast, toasts } from './toasts.js';

/** How long a success message is shown; errors stay until they are dismissed. */
const SHOWN_MS = 6_000;

/** How long an action can be undone: enough time to reach the button with the keyboard. */
const UNDO_MS = 10_000;

/** The element that had the focus before it moved to a message. */
let before: Element | null = null;

/** Removes a message. A focus in it returns to where it was, or to the heading of the page. */
function dismiss(id: number): void {
  const isFocused = document.activeElement?.closest('.toasts') !== null;
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
  if (!isFocused || document.activeElement === null) return;
  const place = before?.isConnected === true ? before : document.querySelector('h1');
  if (place instanceof HTMLElement) place.focus({ preventScroll: true });
}

export function Toasts() {
  return (
    <div
      class="toasts"
      onFocusIn={({ relatedTarget }) => {
        if (relatedTarget instanceof Element && relatedTarget.closest('.toasts') === null) before = relatedTarget;
      }}
    >
      <div role="status">{listOf('done')}</div>
      <div role="alert">{listOf('failed')}</div>
      <div class="aside" role="status">
        {pendingConfirmation.value?.question}
      </div>
    </div>
  );
}

const listOf = (kind: Toast['kind']) =>
  toasts.value.filter((toast) => toast.kind === kind).map((toast) => <Message key={toast.id} toast={toast} />);

/** A message. The time of a success stands still while it is pointed at or focused, and while the page is hidden. */
function Message({ toast }: { readonly toast: Toast }) {
  const { id, message, kind, undo } = toast;
  const box = useRef<HTMLParagraphElement>(null);
  useLayoutEffect(
    () => (kind === 'done' && box.current !== null ? endLater(box.current, id, undo !== undefined) : undefined),
    [],
  );
  const onUndo = (): void => {
    dismiss(id);
    void undo?.();
  };
  return (
    <p ref={box} class={`toast ${kind}`}>
      <ProblemText problem={toast} />
      {undo !== undefined && (
        <button type="button" class="undo" onClick={onUndo}>
          Undo
        </button>
      )}
      <button type="button" class="plain" aria-label={`Dismiss: ${message}`} onClick={() => dismiss(id)}>
        <span aria-hidden="true">×</span>
      </button>
    </p>
  );
}

/** Dismisses a message after its time. Returns a function that stops it. */
function endLater(box: HTMLElement, id: number, canUndo: boolean): () => void {
  const listeners = new AbortController();
  const { signal: until } = listeners;
  const isUsed = (): boolean => document.hidden || box.matches(':hover') || box.contains(document.activeElement);
  const { update, stop } = createCountDown(canUndo ? UNDO_MS : SHOWN_MS, isUsed, () => dismiss(id));
  for (const event of ['pointerenter', 'pointerleave', 'focusin'])
    box.addEventListener(event, update, { signal: until });
  // The focus has not moved yet.
  box.addEventListener('focusout', () => queueMicrotask(update), { signal: until });
  document.addEventListener('visibilitychange', update, { signal: until });
  update();
  return () => {
    listeners.abort();
    stop();
  };
}
