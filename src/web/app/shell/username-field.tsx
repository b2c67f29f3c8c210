import { Field } from './field.js';

interface UsernameFieldProps {
  readonly value: string;
  readonly onValue: (value: string) => void;
}

/** Somebody else's name, which no browser should complete or correct. */
export const UsernameField = (props: UsernameFieldProps) => (
  <Field
    label="Username"
    required
    maxLength={64}
    autoComplete="off"
    autoCapitalize="none"
    spellcheck={false}
    {...props}
  />
);
