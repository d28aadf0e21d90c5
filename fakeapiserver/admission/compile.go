package admission

import (
	"fmt"

	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/cel/environment"
)

// The plugins compile policies in functions of their own, which cannot be called. What follows puts the same parts together; each part, and
// every message, is theirs.

// compiler returns a compiler that knows a policy's variables.
func compiler(variables []v1.Variable, o cel.OptionalVariableDeclarations) (*cel.CompositedCompiler, error) {
	c, err := cel.NewCompositedCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	if err != nil {
		return nil, err
	}
	named := make([]cel.NamedExpressionAccessor, len(variables))
	for i, v := range variables {
		named[i] = &validating.Variable{Name: v.Name, Expression: v.Expression}
	}
	c.CompileAndStoreVariables(named, o, environment.StoredExpressions)
	return c, nil
}

// matcherOf compiles match conditions, nil for none.
func matcherOf(c *cel.CompositedCompiler, conditions []v1.MatchCondition, o cel.OptionalVariableDeclarations, failure *v1.FailurePolicyType, policy string) matchconditions.Matcher {
	if len(conditions) == 0 {
		return nil
	}
	all := accessors(conditions, func(m *v1.MatchCondition) cel.ExpressionAccessor { return (*matchconditions.MatchCondition)(m) })
	return matchconditions.NewMatcher(c.CompileCondition(all, o, environment.StoredExpressions), failure, "policy", "validate", policy)
}

func accessors[T any](all []T, accessor func(*T) cel.ExpressionAccessor) []cel.ExpressionAccessor {
	made := make([]cel.ExpressionAccessor, len(all))
	for i := range all {
		made[i] = accessor(&all[i])
	}
	return made
}

func compileValidating(p *v1.ValidatingAdmissionPolicy) validating.Validator {
	o := cel.OptionalVariableDeclarations{HasParams: p.Spec.ParamKind != nil, HasAuthorizer: true}
	messages := o
	messages.HasAuthorizer = false
	c, err := compiler(p.Spec.Variables, o)
	if err != nil {
		return validating.NewValidator(nil, nil, nil, nil, p.Spec.FailurePolicy, err)
	}
	conditions := accessors(p.Spec.Validations, func(v *v1.Validation) cel.ExpressionAccessor {
		return &validating.ValidationCondition{Expression: v.Expression, Message: v.Message, Reason: v.Reason}
	})
	texts := accessors(p.Spec.Validations, func(v *v1.Validation) cel.ExpressionAccessor {
		if v.MessageExpression == "" {
			return nil
		}
		return &validating.MessageExpressionCondition{MessageExpression: v.MessageExpression}
	})
	annotations := accessors(p.Spec.AuditAnnotations, func(a *v1.AuditAnnotation) cel.ExpressionAccessor {
		return &validating.AuditAnnotationCondition{Key: a.Key, ValueExpression: a.ValueExpression}
	})
	return validating.NewValidator(
		c.CompileCondition(conditions, o, environment.StoredExpressions),
		matcherOf(c, p.Spec.MatchConditions, o, p.Spec.FailurePolicy, p.Name),
		c.CompileCondition(annotations, o, environment.StoredExpressions),
		c.CompileCondition(texts, messages, environment.StoredExpressions),
		p.Spec.FailurePolicy, nil,
	)
}

func compileMutating(p *v1.MutatingAdmissionPolicy) mutating.PolicyEvaluator {
	o := cel.OptionalVariableDeclarations{HasParams: p.Spec.ParamKind != nil, HasAuthorizer: true}
	c, err := compiler(p.Spec.Variables, o)
	if err != nil {
		return mutating.PolicyEvaluator{Error: fmt.Errorf("failed to initialize CEL compiler: %w", err)}
	}
	e := mutating.PolicyEvaluator{Matcher: matcherOf(c, p.Spec.MatchConditions, o, p.Spec.FailurePolicy, p.Name), CompositedCompiler: c}
	o.HasPatchTypes = true
	for _, m := range p.Spec.Mutations {
		switch {
		case m.PatchType == v1.PatchTypeJSONPatch && m.JSONPatch != nil:
			e.Mutators = append(e.Mutators, patch.NewJSONPatcher(
				c.CompileMutatingEvaluator(&patch.JSONPatchCondition{Expression: m.JSONPatch.Expression}, o, environment.StoredExpressions)))
		case m.PatchType == v1.PatchTypeApplyConfiguration && m.ApplyConfiguration != nil:
			e.Mutators = append(e.Mutators, patch.NewApplyConfigurationPatcher(
				c.CompileMutatingEvaluator(&patch.ApplyConfigurationCondition{Expression: m.ApplyConfiguration.Expression}, o, environment.StoredExpressions)))
		}
	}
	return e
}
