import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type Problem, requireData, toProblem } from '../api.js';
import { ActionButton, ConfirmButton, CopyButton } from '../ui/buttons.js';
import { Form, FormError } from '../ui/form.js';
import { AsyncContent, useResource } from '../ui/resource.js';
import { formatDateTime } from '../ui/times.js';
import { showToast } from '../ui/toasts.js';
import { AuditTable } from './audit-entries.js';
import { type UnlockedIdentity, useIdentityPrompt } from './identity/unlock.js';
import type { ObjectMetadata, ObjectVersion } from './metadata.js';
import { copySecretly } from './secrets-layout.js';
import { findOwnPublicKey, locateSecret, secretsClient, useSealingError } from './secrets.js';
import { loadStoredValues } from './signatures/load-stored-values.js';
import { SignedBy, UnsignedNote } from './signatures/signed-by.js';
import { ReaderPicker, SecretField, type SecretInput, ValueGenerator } from './value-fields.js';

interface ReadValueProps {
  readonly object: ObjectMetadata;
  /** Whether the owner is a recipient; `undefined` when the recipients are not recorded. */
  readonly isReadable: boolean | undefined;
  readonly unlocked: UnlockedIdentity;
  readonly onChange: () => Promise<void>;
}

/** Shows and reseals a value with the owner's identity, or with an identity that the user pastes. */
export function RevealValue({ object, isReadable, unlocked, onChange }: ReadValueProps) {
  const { slug, updated_at, reseal } = object;
  const [value, setValue] = useState<Uint8Array<ArrayBuffer>>();
  const container = useRef<HTMLDivElement>(null);
  const { withIdentity, prompt } = useIdentityPrompt(unlocked);
  useEffect(() => setValue(undefined), [updated_at]);
  const [problem, show] = useSealingError(() =>
    withIdentity({
      why: `Unlock your key to show “${slug}”.`,
      work: async (identity) => setValue(await (await loadStoredValues()).openValue(object, identity)),
    }),
  );
  const [clipboardProblem, setClipboardProblem] = useState<Problem>();
  const [copyProblem, copy] = useSealingError(() => {
    setClipboardProblem(undefined);
    return withIdentity({
      why: `Unlock your key to copy “${slug}”.`,
      work: async (identity) => {
        const text = decodeText(await (await loadStoredValues()).openValue(object, identity));
        if (text === undefined) throw new Error('This value is binary. Show it, and save it as a file.');
        // The key is unlocked, so another press copies at once: the browser may require one after the passkey.
        await copySecretly(text, `The value of “${slug}”`).catch((error: unknown) =>
          setClipboardProblem(toProblem(error)),
        );
      },
    });
  });
  const [resealProblem, reencrypt] = useSealingError(() =>
    withIdentity({
      why: `Unlock your key to re-encrypt “${slug}”.`,
      work: async (identity) => {
        const { resealValue } = await loadStoredValues();
        await reloadOvertaken(onChange, resealValue(object, identity));
        await onChange();
        showToast(`“${slug}” re-encrypted to your key and the current keys of its consumers.`);
      },
    }),
  );
  const hide = (): void => {
    // The focused element disappears; the focus returns to the button that showed the value.
    if (container.current?.contains(document.activeElement)) container.current.querySelector('button')?.focus();
    setValue(undefined);
  };
  return (
    <div ref={container}>
      {isReadable === false && (
        <p class="notes">
          Only its consumers can decrypt this value; it isn’t encrypted to your key. To show it here, paste the identity
          of a consumer. To read it with your own key, replace the value and encrypt it to your key too.
        </p>
      )}
      <div class="row wrapping">
        <ActionButton class={reseal || isReadable === false ? '' : 'main'} onAct={show}>
          Show value
        </ActionButton>
        <ActionButton onAct={copy}>Copy without showing</ActionButton>
        <ActionButton class={reseal ? 'main' : ''} onAct={reencrypt}>
          Re-encrypt
        </ActionButton>
      </div>
      <FormError problem={problem ?? copyProblem ?? clipboardProblem ?? resealProblem} />
      {prompt}
      {value && <RevealedValue slug={slug} value={value} onHide={hide} />}
    </div>
  );
}

/** Long enough to use the value, short enough for an unattended screen. */
const SHOWN_MS = 60_000;

interface OpenedValueProps {
  readonly slug: string;
  readonly value: Uint8Array<ArrayBuffer>;
  readonly onHide: () => void;
}

/**
 * A decrypted value, hidden again after a minute. The group around it takes the focus, so that screen readers don't
 * read the value aloud at once.
 */
function RevealedValue({ slug, value, onHide }: OpenedValueProps) {
  const group = useRef<HTMLDivElement>(null);
  const text = useMemo(() => decodeText(value), [value]);
  useLayoutEffect(() => group.current?.focus(), [value]);
  useEffect(() => {
    const timer = setTimeout(onHide, SHOWN_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return (
    <div ref={group} class="once" role="group" tabIndex={-1} aria-label={`Value of ${slug}`}>
      {text === undefined ? <p>Binary value of {value.length} bytes.</p> : <Text text={text} />}
      <div class="row wrapping">
        {text === undefined ? <Download slug={slug} value={value} /> : <CopyButton value={text} what="the value" />}
        <button type="button" onClick={onHide}>
          Hide
        </button>
      </div>
      <p class="quiet">Decrypted in this browser. It will be hidden after one minute.</p>
    </div>
  );
}

function Text({ text }: { readonly text: string }) {
  if (text === '') return <p>The value is empty.</p>;
  return (
    <pre class="secret-value" tabIndex={0}>
      {text}
    </pre>
  );
}

function Download({ slug, value }: Pick<OpenedValueProps, 'slug' | 'value'>) {
  const url = useMemo(() => URL.createObjectURL(new Blob([value])), [value]);
  useEffect(() => () => URL.revokeObjectURL(url), [url]);
  return (
    <a class="button" href={url} download={slug}>
      Save as file
    </a>
  );
}

/** Decodes UTF-8; returns `undefined` for invalid UTF-8 and for text with control characters. */
function decodeText(value: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(value);
    // oxlint-disable-next-line no-control-regex -- control characters are the sign of binary data
    return /[\0-\u0008\u000e-\u001f]/.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}

interface RotateProps {
  readonly object: ObjectMetadata;
  /** Whether the owner can read the previous value; `undefined` while that is unknown. */
  readonly wasReadable: boolean | undefined;
  readonly onChange: () => Promise<void>;
}

/** The form that replaces a value. The new value is sealed to the current keys of the consumers. */
export function ReplaceValue({ object, wasReadable, onChange }: RotateProps) {
  const [value, setValue] = useState<SecretInput>('');
  const [usedBy, setUsedBy] = useState<readonly string[]>(object.used_by ?? []);
  const fold = useRef<HTMLDetailsElement>(null);
  // Its lists are loaded when it is opened, and it keeps its values when it is closed.
  const [isUsed, setUsed] = useState(false);
  // An owner who could read the previous value expects to read the new one.
  const [isReadable = wasReadable, setReadable] = useState<boolean>();
  const [problem, rotate] = useSealingError(async () => {
    const { storeReplacement } = await loadStoredValues();
    const keepReadableCopy = isReadable ?? isReader(object, await findOwnPublicKey());
    await reloadOvertaken(onChange, storeReplacement(object, { value, usedBy, keepReadableCopy }));
    setValue('');
    setReadable(undefined);
    await onChange();
    fold.current?.removeAttribute('open');
    fold.current?.querySelector('summary')?.focus();
    showToast(`Value of “${object.slug}” replaced. The previous value is in the version history.`);
  });
  return (
    <details ref={fold} class="fold" onToggle={({ currentTarget }) => currentTarget.open && setUsed(true)}>
      <summary>Replace value</summary>
      {isUsed && (
        <Form verb="Save new value" onSave={rotate}>
          <SecretField label="New value" value={value} onValue={setValue} />
          <ValueGenerator onValue={setValue} />
          <ReaderPicker
            {...{ usedBy, isReadable: isReadable === true }}
            onUsedBy={setUsedBy}
            onReadable={setReadable}
          />
          <UnsignedNote object={object} />
          <FormError problem={problem} />
        </Form>
      )}
    </details>
  );
}

/** Waits for a change of a secret. If others have changed it, loads it again, so that a further attempt replaces their value. */
const reloadOvertaken = (reload: () => Promise<void>, change: Promise<void>): Promise<void> =>
  change.catch(async (error: unknown) => {
    if (toProblem(error).code === 'precondition_failed') await reload();
    throw error;
  });

const isReader = ({ recipients }: ObjectMetadata, key: string | undefined): boolean =>
  key !== undefined && recipients?.includes(key) === true;

interface ObjectHistoryProps {
  readonly object: ObjectMetadata;
  readonly onChange: () => Promise<void>;
}

/** The previous versions of a secret, and its latest audit log entries. */
export function SecretHistory({ object, onChange }: ObjectHistoryProps) {
  const { slug, id, updated_at } = object;
  const load = useCallback(async () => {
    const params = { path: { slug }, query: { id } };
    const [versions, log] = await Promise.all([
      secretsClient.GET('/objects/{slug}/versions', { params }),
      secretsClient.GET('/audit-log', { params: { query: { object_id: slug, order: 'desc', limit: 20 } } }),
    ]);
    return { versions: requireData(versions), log: requireData(log) };
  }, [slug, id, updated_at]);
  const history = useResource(load);
  const restore = async (previous: ObjectVersion): Promise<void> => {
    const { restoreValue } = await loadStoredValues();
    await restoreValue(object, previous);
    await onChange();
    showToast(`Version ${previous.version} of “${slug}” restored.`);
  };
  const heading = useRef<HTMLHeadingElement>(null);
  const destroy = async (): Promise<void> => {
    requireData(await secretsClient.DELETE('/objects/{slug}/versions', { params: locateSecret(object) }));
    await history.reload();
    // The pressed button has disappeared.
    heading.current?.focus();
    showToast(`Previous values of “${slug}” destroyed.`);
  };
  return (
    <AsyncContent from={history}>
      {({ versions, log }) => (
        <>
          <h2 ref={heading} tabIndex={-1}>
            Version history
          </h2>
          <ul class="things">
            {versions.length === 0 && <li>No earlier versions</li>}
            {versions.map((version) => (
              <li key={version.version}>
                <div>
                  Version {version.version}
                  <small>
                    {formatDateTime(version.created_at)} to {formatDateTime(version.replaced_at)}
                  </small>
                  <SignedBy object={object} previous={version} onChange={onChange} />
                </div>
                <ConfirmButton
                  label={`Restore version ${version.version}`}
                  question="Restore this version"
                  onAct={() => restore(version)}
                >
                  Restore
                </ConfirmButton>
              </li>
            ))}
          </ul>
          {versions.length > 0 && <DestroyVersions object={object} count={versions.length} onAct={destroy} />}
          <h2>Recent activity</h2>
          <AuditTable entries={log.filter(({ variant_id = id }) => variant_id === id)} />
        </>
      )}
    </AsyncContent>
  );
}

interface DestroyVersionsProps {
  readonly object: ObjectMetadata;
  readonly count: number;
  readonly onAct: () => Promise<void>;
}

function DestroyVersions({ object: { slug, id }, count, onAct }: DestroyVersionsProps) {
  const hint = `destroy-${id}`;
  return (
    <div class="destroy">
      <p class="quiet" id={hint}>
        After a leak, destroy the previous values at once. The current value stays, and so do copies in backups.
      </p>
      <ConfirmButton
        class="danger"
        label={`Destroy previous values of ${slug}`}
        question={`Destroy ${count === 1 ? 'one value' : `${count} values`} permanently`}
        reason={hint}
        onAct={onAct}
      >
        Destroy previous values
      </ConfirmButton>
    </div>
  );
}
