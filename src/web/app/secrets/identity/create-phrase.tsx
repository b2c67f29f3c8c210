import { useEffect, useState } from 'preact/hooks';
import { PhraseList } from './phrase-list.js';
import { ConfirmPhrase } from './confirm-phrase.js';

interface MakePhraseProps {
  /** Called with the words, separated by single spaces, once the user has confirmed them. */
  readonly onPhrase: (phrase: string) => Promise<void>;
}

/** Generates a recovery phrase, shows it, and checks that the user has written it down. */
export function CreatePhrase({ onPhrase }: MakePhraseProps) {
  const [words, setWords] = useState<readonly string[]>();
  const [isConfirming, setConfirming] = useState(false);
  useEffect(() => void import('./phrase.js').then(({ generatePhrase }) => setWords(generatePhrase())), []);
  if (words === undefined) return null;
  if (!isConfirming) return <PhraseList words={words} onNext={() => setConfirming(true)} />;
  return <ConfirmPhrase words={words} onBack={() => setConfirming(false)} onNext={() => onPhrase(words.join(' '))} />;
}
