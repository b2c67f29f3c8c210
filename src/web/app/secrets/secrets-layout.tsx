import './secrets.css';
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { writeClipboard } from '../ui/buttons.js';
import { Heading, SectionTabs } from '../ui/headings.js';
import { showError, showToast } from '../ui/toasts.js';
import { KeyChangeConfirmation } from './browser-keys.js';

const TABS = [
  ['/vault', 'Secrets'],
  ['/vault/consumers', 'Consumers'],
  ['/vault/writers', 'Writers'],
  ['/vault/tokens', 'Tokens'],
  ['/vault/audit', 'Audit log'],
  ['/vault/identity', 'My key'],
] as const;

interface VaultFrameProps {
  readonly title: string;
  /** Links beside the title. */
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** The layout of the secrets pages: heading, tabs and the dialog about changed keys. */
export function SecretsLayout({ title, actions, children }: VaultFrameProps) {
  return (
    <>
      <div class="page-head">
        <Heading>{title}</Heading>
        {actions}
      </div>
      <SectionTabs name="Secrets" parts={TABS} />
      <ClipboardNotice />
      {children}
      <KeyChangeConfirmation />
    </>
  );
}

/** Long enough to paste a value into another program. */
const KEPT_MS = 60_000;

interface Copied {
  /** Kept to compare it with the clipboard, which may contain something else by then. */
  readonly text: string;
  readonly what: string;
  readonly isOverdue: boolean;
}

const copied = signal<Copied>();
let timer: ReturnType<typeof setTimeout> | undefined;

/** Copies a secret value to the clipboard without showing it, and removes it from there after a minute. */
export async function copySecretly(text: string, what: string): Promise<void> {
  await writeClipboard(text);
  clearTimeout(timer);
  copied.value = { text, what, isOverdue: false };
  timer = setTimeout(() => void clearIfUnchanged(), KEPT_MS);
}

/**
 * Clears the clipboard if it still contains the value. Browsers that do not let a page read the clipboard, and tabs in
 * the background, leave this to the user.
 */
async function clearIfUnchanged(): Promise<void> {
  const last = copied.value;
  if (last === undefined) return;
  try {
    const state = await navigator.permissions.query({ name: 'clipboard-read' as PermissionName });
    if (state.state !== 'granted') throw new Error('The clipboard cannot be read.');
    if ((await navigator.clipboard.readText()) === last.text) await navigator.clipboard.writeText('');
    finish(last);
  } catch {
    copied.value = { ...last, isOverdue: true };
  }
}

function finish({ what }: Copied): void {
  clearTimeout(timer);
  copied.value = undefined;
  showToast(`${what} is no longer in the clipboard.`);
}

async function clearNow(): Promise<void> {
  const last = copied.value;
  if (last === undefined) return;
  try {
    await writeClipboard('');
    finish(last);
  } catch (error) {
    showError(error);
  }
}

/** Says that a value is in the clipboard, and offers to clear it. */
function ClipboardNotice() {
  const last = copied.value;
  useEffect(() => {
    // A tab in the background can't change the clipboard; it tries again when it is used again.
    const retry = (): void => {
      if (copied.peek()?.isOverdue) void clearIfUnchanged();
    };
    addEventListener('focus', retry);
    return () => removeEventListener('focus', retry);
  }, []);
  return (
    <div class="clipboard" role="status">
      {last && (
        <p class="notes">
          {last.what} is in the clipboard.{' '}
          {last.isOverdue
            ? 'This browser does not let the page check it.'
            : 'It is removed after one minute, while this page is open.'}{' '}
          <button type="button" onClick={() => void clearNow()}>
            Clear clipboard
          </button>
        </p>
      )}
    </div>
  );
}
