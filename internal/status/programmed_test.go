// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source/kongapi"
)

func TestConditions(t *testing.T) {
	objects := &kongapi.Objects{}
	plugin := &kongapi.KongPlugin{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "p"}}
	consumer := &kongapi.KongConsumer{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "c"}}
	objects.Put("KongPlugin", types.NamespacedName{Namespace: "a", Name: "p"}, plugin)
	objects.Put("KongConsumer", types.NamespacedName{Namespace: "a", Name: "c"}, consumer)
	ref := model.Ref{Kind: "KongPlugin", Namespace: "a", Name: "p"}
	for _, c := range []struct {
		name     string
		problems []model.Problem
		err      error
		ours     bool
		want     Condition
		consumer bool
	}{
		{name: "in force", ours: true, want: Condition{Status: metav1.ConditionTrue, Reason: "Programmed", Message: "the object is in force"}, consumer: true},
		{
			name: "not in force", err: errors.New("away"),
			want: Condition{Status: metav1.ConditionUnknown, Reason: "Pending", Message: "the gateway does not have it yet: away"},
		},
		{
			name: "two reasons", problems: []model.Problem{
				{Object: ref, Field: "config", Reason: model.ReasonInvalidPlugin, Message: "x"}, {Object: ref, Reason: model.ReasonDuplicate, Message: "y"},
			},
			want: Condition{Status: metav1.ConditionFalse, Reason: "Invalid", Message: "config: x; y"},
		},
		{
			name: "harmless", problems: []model.Problem{{Object: ref, Reason: model.ReasonDeprecated, Message: "x"}},
			want: Condition{Status: metav1.ConditionTrue, Reason: "Programmed", Message: "the object is in force"},
		},
	} {
		all := Conditions(objects, c.problems, c.err, func(metav1.Object) bool { return c.ours })
		if all[ref] != Statement(c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, all[ref], c.want)
		}
		if _, has := all[model.Ref{Kind: "KongConsumer", Namespace: "a", Name: "c"}]; has != c.consumer {
			t.Errorf("%s: the consumer has a condition: %v", c.name, has)
		}
	}
}
