import type { ComponentChildren } from 'preact';
import { useCallback, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { ActionButton, CopyButton } from '../../ui/buttons.js';
import { Field, Form, FormError } from '../../ui/form.js';
import { AsyncContent, useResource } from '../../ui/resource.js';
import { showToast } from '../../ui/toasts.js';
import { findOwnPublicKey, useSealingError } from '../secrets.js';
import { ValueField } from '../value-fields.js';
import { loadOwnerKeys, saveOwnerIdentity, type StoredPasskey } from './unlock.js';
import type { Identity } from './wrapping.js';

interface NewIdentityProps {
  readonly passkeys: readonly StoredPasskey[];
  readonly onDone: () => Promise<void>;
}

/** Creates the owner's identity in steps. Nothing is sent before the last step. */
export function CreateKey({ passkeys, onDone }: NewIdentityProps) {
  const [identity, setIdentity] = useState<Identity>();
  const [phrase, setPhrase] = useState<string>();
  const save = async (own: Identity, words: string, passkey: StoredPasskey | undefined): Promise<void> => {
    const { wrapWithPasskey, wrapWithPhrase } = await import('./wrapping.js');
    const wrapped = passkey && {
      credential_id: passkey.id,
      wrapped_identity: await wrapWithPasskey(own, passkey.id),
    };
    const recovery = await wrapWithPhrase(own, words);
    await saveOwnerIdentity({ public_key: own.publicKey, recovery_wrapped_identity: recovery, ...wrapped });
    await onDone();
    showToast('Key created.');
  };
  if (identity === undefined) return <Start onIdentity={setIdentity} />;
  if (phrase === undefined) return <CreatePhrase onPhrase={async (words) => setPhrase(words)} />;
  return <ChoosePasskey passkeys={passkeys} onChosen={(passkey) => save(identity, phrase, passkey)} />;
}

interface StartProps {
  readonly onIdentity: (identity: Identity) => void;
}

function Start({ onIdentity }: StartProps) {
  return (
    <section class="prose">
      <p>
        Values are encrypted to the public keys of their consumers, and this server can’t decrypt them. To read values
        yourself, create a key pair. Values are then also encrypted to your public key, wherever you ask for it.
      </p>
      <p>
        The key pair is created in this browser. The server stores the public key, and copies of the private key that it
        can’t decrypt: one encrypted with a recovery phrase of 24 words, which you write down, and one encrypted with
        your passkey, if the device supports that.
      </p>
      <p>
        <strong>
          Anyone with the phrase can read your secrets. Without the phrase and the passkey, no one can, not even you.
        </strong>{' '}
        Have pen and paper ready.
      </p>
      <ActionButton
        class="main"
        onAct={async () => onIdentity(await (await import('./wrapping.js')).generateOwnerIdentity())}
      >
        Create my key
      </ActionButton>
      <BringIdentity onIdentity={onIdentity} />
    </section>
  );
}

/** The form that imports an existing identity, for users with values that are already sealed to it. */
function BringIdentity({ onIdentity }: StartProps) {
  const [text, setText] = useState('');
  const [problem, bring] = useSealingError(async () => {
    onIdentity(await (await import('./wrapping.js')).parseIdentity(text));
  });
  return (
    <details class="fold">
      <summary>I already have an age identity</summary>
      <p class="quiet">
        Paste the output of <code>age-keygen</code>. It stays in this page; only encrypted copies are sent.
      </p>
      <Form verb="Continue" onSave={bring}>
        <ValueField label="Identity (AGE-SECRET-KEY-1…)" value={text} onValue={setText} />
        <FormError problem={problem} />
      </Form>
    </details>
  );
}

interface ChoosePasskeyProps {
  readonly passkeys: readonly StoredPasskey[];
  /** Called with `undefined` when the user chooses no passkey. */
  readonly onChosen: (passkey: StoredPasskey | undefined) => Promise<void>;
}

/** The last step of creating a key: selects a passkey that unlocks it, so that the phrase is only for recovery. */
function ChoosePasskey({ passkeys, onChosen }: ChoosePasskeyProps) {
  const [problem, choose] = useSealingError(onChosen);
  return (
    <section class="prose">
      <StepHeading>3. Unlock with a passkey</StepHeading>
      <p>
        A passkey can unlock your key too, if its device and this browser support that. You then need the phrase only if
        you lose the passkey. You can add more passkeys later.
      </p>
      <FormError problem={problem} />
      <div class="row wrapping">
        {passkeys.map((passkey) => (
          <ActionButton key={passkey.id} class="main" onAct={() => choose(passkey)}>
            Use the passkey “{passkey.nickname}”
          </ActionButton>
        ))}
        <ActionButton onAct={() => choose(undefined)}>Use only the phrase</ActionButton>
      </div>
    </section>
  );
}

interface FirstKey {
  /** Resolves to true once the owner has a key, and to false if the user cancels its creation. */
  readonly ensureKey: () => Promise<boolean>;
  /** The steps of creating the key, while they are needed. */
  readonly steps: ReturnType<typeof KeySteps> | undefined;
}

/** Creates the owner's key in the flow of the first form that needs it, which continues afterwards. */
export function useFirstKey(): FirstKey {
  const [settle, setSettle] = useState<(hasKey: boolean) => void>();
  const ensureKey = async (): Promise<boolean> => {
    if ((await findOwnPublicKey()) !== undefined) return true;
    return new Promise((resolve) => {
      setSettle(() => (hasKey: boolean) => {
        setSettle(undefined);
        resolve(hasKey);
      });
    });
  };
  return { ensureKey, steps: settle && <KeySteps onSettled={settle} /> };
}

function KeySteps({ onSettled }: { readonly onSettled: (hasKey: boolean) => void }) {
  const keys = useResource(useCallback(loadOwnerKeys, []));
  return (
    <section class="first-key" aria-label="Create your key">
      <p class="notes">
        Nothing has been saved yet. You need a key to read this value later; the value is encrypted and saved as soon as
        you have it.
      </p>
      <AsyncContent from={keys}>
        {({ passkeys }) => <CreateKey passkeys={passkeys} onDone={async () => onSettled(true)} />}
      </AsyncContent>
      <p>
        <button type="button" onClick={() => onSettled(false)}>
          Back to the form
        </button>
      </p>
    </section>
  );
}

interface MakePhraseProps {
  /** Called with the words, separated by single spaces, once the user has confirmed them. */
  readonly onPhrase: (phrase: string) => Promise<void>;
}

/** Generates a recovery phrase, shows it, and checks that the user has written it down. */
export function CreatePhrase({ onPhrase }: MakePhraseProps) {
  const phrase = useResource(createWords);
  const [isConfirming, setConfirming] = useState(false);
  return (
    <AsyncContent from={phrase}>
      {(words) =>
        isConfirming ? (
          <ConfirmPhrase words={words} onBack={() => setConfirming(false)} onNext={() => onPhrase(words.join(' '))} />
        ) : (
          <PhraseList words={words} onNext={() => setConfirming(true)} />
        )
      }
    </AsyncContent>
  );
}

const createWords = async (): Promise<readonly string[]> => (await import('./phrase.js')).generatePhrase();

interface PhraseListProps {
  readonly words: readonly string[];
  readonly onNext: () => void;
}

/** Shows the new recovery phrase. The printed page contains only the phrase and its purpose. */
function PhraseList({ words, onNext }: PhraseListProps) {
  return (
    <section class="prose">
      <StepHeading>1. Write down your recovery phrase</StepHeading>
      <p>
        Write down these 24 words in this order. They won’t be shown again, and no one can recover them for you. Keep
        the paper in a safe place.
      </p>
      <ol class="phrase" aria-label="Recovery phrase">
        {words.map((word, index) => (
          <li key={index}>{word}</li>
        ))}
      </ol>
      <p class="print-only">Recovery phrase for the secrets at {location.origin}. Anyone who has it can read them.</p>
      <div class="row wrapping">
        <CopyButton value={words.join(' ')} what="the phrase" />
        <button type="button" onClick={() => print()}>
          Print
        </button>
        <button type="button" class="main" onClick={onNext}>
          I have written it down
        </button>
      </div>
      <p class="quiet">Other programs can read copied text. Save the phrase in a password manager, not in a note.</p>
    </section>
  );
}

interface PhraseQuestionProps {
  readonly words: readonly string[];
  readonly onBack: () => void;
  readonly onNext: () => Promise<void>;
}

/** Asks for two of the words, to check that the user has written the phrase down. */
function ConfirmPhrase({ words, onBack, onNext }: PhraseQuestionProps) {
  const [indices] = useState(() => pickTwo(words.length));
  const [inputs, setInputs] = useState<readonly string[]>(['', '']);
  const [problem, check] = useSealingError(async () => {
    const wrong = indices.filter((at, index) => inputs[index]?.trim().toLowerCase() !== words[at]);
    if (wrong.length > 0) throw new Error(describe(wrong));
    await onNext();
  });
  return (
    <section class="prose">
      <StepHeading>2. Confirm your recovery phrase</StepHeading>
      <p>Enter these two words from your paper.</p>
      <Form verb="Continue" onSave={check}>
        {indices.map((at, index) => (
          <Field
            key={at}
            label={`Word ${at + 1}`}
            required
            maxLength={20}
            autoCapitalize="none"
            spellcheck={false}
            value={inputs[index] ?? ''}
            onValue={(word) => setInputs(inputs.with(index, word))}
          />
        ))}
        <FormError problem={problem} />
      </Form>
      <p>
        <button type="button" onClick={onBack}>
          Show the words again
        </button>
      </p>
    </section>
  );
}

function describe(wrong: readonly number[]): string {
  const numbers = wrong.map((at) => at + 1).join(' and ');
  return wrong.length === 1
    ? `Word ${numbers} doesn’t match your phrase.`
    : `Words ${numbers} don’t match your phrase.`;
}

/** Picks two indices in ascending order. The check only guards against forgetting, so `Math.random` is enough. */
function pickTwo(count: number): readonly number[] {
  const first = Math.floor(Math.random() * count);
  const second = (first + 1 + Math.floor(Math.random() * (count - 1))) % count;
  return [first, second].sort((a, b) => a - b);
}

/** A heading that takes the focus when its step begins, so that screen readers announce the step. */
export function StepHeading({ children }: { readonly children: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => heading.current?.focus(), []);
  return (
    <h2 ref={heading} tabIndex={-1} class="step">
      {children}
    </h2>
  );
}
