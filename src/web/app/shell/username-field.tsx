import { Field } from './field.js';

interface UsernameFieldProps {
  readonly value: string;
  readonly onValue: (value: string) => void;
}

/** The username of another user; browsers must not autocomplete or correct it. */
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
